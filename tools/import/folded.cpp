// Folded stacks: "main;solve;MPI_Waitall 1234", a line each. A first frame "rank 3" or "rank 3 thread 1" is a place, as in our exports.
#include "tools/export/location_name.hpp"
#include "tools/import/file_bytes.hpp"
#include "tools/import/frame_builder.hpp"
#include "tools/import/importers.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

Frame read_folded(const std::filesystem::path& place) {
    MemoryLimit memory(place);
    const std::string bytes = file_bytes(place, memory);
    FrameBuilder builder(place.stem().string(), memory);
    const std::uint32_t metric = builder.metric("time", "");
    builder.note("folded stacks have one metric without a name or unit; it is called time here");
    std::string_view text = bytes;
    for (std::size_t line_number = 1; !text.empty(); ++line_number) {
        const std::string_view line = take_line(text);
        if (line.empty()) continue;
        const std::size_t space = line.rfind(' ');
        if (space == std::string_view::npos) throw FrameError(fmt::format("line {} has no value", line_number));
        std::string_view stack = line.substr(0, space);
        std::uint32_t node = 0;
        const std::optional<NamedLocation> where = location_named(stack.substr(0, stack.find(';')));
        if (where) stack.remove_prefix(std::min(stack.find(';'), stack.size() - 1) + 1);
        while (!stack.empty()) {
            const std::size_t end = stack.find(';');
            const std::string_view frame = stack.substr(0, end);
            stack.remove_prefix(end == std::string_view::npos ? stack.size() : end + 1);
            if (frame != "(no call path)") node = builder.child(node, {frame});
        }
        builder.value(metric, where ? builder.place(where->rank, where->thread) : builder.place(0, 0), node, number_in(line.substr(space + 1)));
    }
    return std::move(builder).finish();
}

} // namespace libprofile::tools
