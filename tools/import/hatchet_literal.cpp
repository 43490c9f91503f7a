// Hatchet's literals as JSON: [{"frame": {"name": ..., "type": ...}, "metrics": {"time": ..., "time (inc)": ...}, "children": [...]}]. Times there
// have no unit; they are taken as seconds, as Hatchet's other readers make them.
#include "tools/import/frame_builder.hpp"
#include "tools/import/importers.hpp"
#include "tools/import/json_file.hpp"

namespace libprofile::tools {

namespace {

void add_literal(FrameBuilder& builder, const Json& literal, std::uint32_t place) {
    struct Open {
        const Json* node;
        std::uint32_t parent;
    };
    std::vector<Open> open = {{&literal, 0}};
    while (!open.empty()) { // not recursive: the file may be nested deeply
        const auto [node, parent] = open.back();
        open.pop_back();
        const Json& frame = member(*node, "frame");
        const std::string name = text_or(frame, "name", "(unnamed)"), type = text_or(frame, "type", "function"), file = text_or(frame, "file", "");
        const std::uint32_t number = builder.add(parent, {name, type, file});
        if (node->contains("metrics") && (*node)["metrics"].is_object())
            for (const auto& [metric, value] : (*node)["metrics"].items()) {
                if (!value.is_number() || metric.find(" (inc)") != std::string::npos || metric == "rank") continue;
                const bool is_time = metric == "time";
                builder.value(builder.metric(metric, is_time ? "ns" : ""), place, number, value.get<double>() * (is_time ? 1e9 : 1));
            }
        if (!node->contains("children")) continue;
        const Json& children = array_member(*node, "children");
        for (auto child = children.rbegin(); child != children.rend(); ++child) open.push_back({&*child, number});
    }
}

} // namespace

Frame read_hatchet_literal(const std::filesystem::path& place) {
    MemoryLimit memory(place);
    const Json document = json_file(place, memory);
    FrameBuilder builder("(program)", memory);
    const std::uint32_t here = builder.place(0, 0);
    if (document.is_array())
        for (const Json& root : document) add_literal(builder, root, here);
    else
        add_literal(builder, document, here);
    builder.note("a literal has no ranks and no units; times are taken as seconds");
    return std::move(builder).finish();
}

} // namespace libprofile::tools
