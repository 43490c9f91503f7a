// gprof's text: the flat profile. Its call graph has no call paths, so functions stand side by side below the program.
#include "tools/import/file_bytes.hpp"
#include "tools/import/frame_builder.hpp"
#include "tools/import/importers.hpp"

#include <optional>

namespace libprofile::tools {

namespace {

/// The number at the beginning of a line, cut off; none if there is something else.
std::optional<double> take_number(std::string_view& line) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string_view::npos) return {};
    const std::size_t end = std::min(line.find(' ', first), line.size());
    const std::string_view word = line.substr(first, end - first);
    if (word.find_first_not_of("0123456789.") != std::string_view::npos) return {};
    line.remove_prefix(end);
    return number_in(word);
}

} // namespace

Frame read_gprof(const std::filesystem::path& place) {
    MemoryLimit memory(place);
    const std::string bytes = file_bytes(place, memory);
    std::string_view text = bytes;
    FrameBuilder builder("(program)", memory);
    const std::uint32_t time = builder.metric("time", "ns"), visits = builder.metric("visits", "count"), here = builder.place(0, 0);
    builder.note("gprof's text has no call paths: functions stand side by side");
    bool is_table = false;
    while (!text.empty()) {
        std::string_view line = take_line(text);
        if (!is_table) {
            is_table =
                line.find("name") != std::string_view::npos && line.find("seconds") != std::string_view::npos && line.find("time") != std::string_view::npos;
            continue;
        }
        if (line.find_first_not_of(" \f") == std::string_view::npos) break;
        take_number(line); // percent
        take_number(line); // cumulative
        const std::optional<double> seconds = take_number(line);
        if (!seconds) throw FrameError("a line of the flat profile has no time");
        const std::optional<double> calls = take_number(line);
        if (calls) { // then two columns for the time a call
            take_number(line);
            take_number(line);
        }
        const std::size_t name = line.find_first_not_of(' ');
        if (name == std::string_view::npos) throw FrameError("a line of the flat profile has no name");
        const std::uint32_t node = builder.child(0, {line.substr(name)});
        builder.value(time, here, node, *seconds * 1e9);
        if (calls) builder.value(visits, here, node, *calls);
    }
    if (!is_table) throw FrameError("it has no flat profile");
    return std::move(builder).finish();
}

} // namespace libprofile::tools
