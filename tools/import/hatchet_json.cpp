// What Hatchet's to_json writes: trees of numbered nodes in "graph", their values in "dataframe" (by node, and rank and thread where there are
// any). A node with several callers, in a call graph, is put below the first one. Times have no unit and are taken as seconds.
#include "tools/import/frame_builder.hpp"
#include "tools/import/importers.hpp"
#include "tools/import/json_file.hpp"

#include <map>
#include <set>

namespace libprofile::tools {

namespace {

constexpr std::size_t graph_node_bytes = 64;

using GraphNodes = std::map<std::uint64_t, std::uint32_t>; // by number in the file

std::uint64_t graph_number(const Json& value) {
    if (!value.is_number_unsigned()) throw FrameError("a node has no number");
    return value.get<std::uint64_t>();
}

void add_tree(FrameBuilder& builder, const Json& tree, GraphNodes& known) {
    if (!tree.is_object()) throw FrameError("\"graph\" has something that is no tree");
    std::set<std::uint64_t> called;
    for (const auto& [key, node] : tree.items())
        for (const Json& child : array_member(node, "children"))
            if (called.insert(graph_number(child)).second) builder.memory().take(graph_node_bytes);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> open; // and parent
    for (const auto& [key, node] : tree.items())
        if (const std::uint64_t number = whole_number_in(key); called.count(number) == 0) open.emplace_back(number, 0);
    std::reverse(open.begin(), open.end());
    while (!open.empty()) {
        const auto [number, parent] = open.back();
        open.pop_back();
        if (known.count(number) != 0) continue;
        const Json &node = member(tree, std::to_string(number).c_str()), &data = member(node, "data");
        const std::string name = text_or(data, "name", "(unnamed)"), type = text_or(data, "type", "function"), file = text_or(data, "file", "");
        builder.memory().take(graph_node_bytes);
        const std::uint32_t added = known[number] = builder.add(parent, {name, type, file});
        const Json& children = node["children"];
        for (auto child = children.rbegin(); child != children.rend(); ++child) open.emplace_back(graph_number(*child), added);
    }
}

} // namespace

Frame read_hatchet_json(const std::filesystem::path& place) {
    MemoryLimit memory(place);
    const Json document = json_file(place, memory);
    FrameBuilder builder("(program)", memory);
    GraphNodes nodes;
    for (const Json& tree : array_member(document, "graph")) add_tree(builder, tree, nodes);
    std::set<std::string> inclusive;
    if (document.contains("inclusive_metrics"))
        for (const Json& name : array_member(document, "inclusive_metrics"))
            if (name.is_string()) inclusive.insert(name.get<std::string>());
    for (const Json& row : array_member(document, "dataframe")) {
        const auto node = nodes.find(graph_number(member(row, "node")));
        if (node == nodes.end()) throw FrameError("a row is of no node");
        const auto number = [&](const char* name) { return row.contains(name) && row[name].is_number_unsigned() ? row[name].get<std::uint32_t>() : 0; };
        const std::uint32_t here = builder.place(number("rank"), number("thread"));
        for (const auto& [name, value] : row.items()) {
            if (!value.is_number() || inclusive.count(name) != 0 || name == "node" || name == "rank" || name == "thread" || name == "line" || name == "nid")
                continue;
            const bool is_time = name == "time";
            builder.value(builder.metric(name, is_time ? "ns" : ""), here, node->second, value.get<double>() * (is_time ? 1e9 : 1));
        }
    }
    builder.note("the file has no units; times are taken as seconds");
    return std::move(builder).finish();
}

} // namespace libprofile::tools
