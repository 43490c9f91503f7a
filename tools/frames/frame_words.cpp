#include "tools/frames/frame_words.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace libprofile::tools {

std::string size_words(const Frame& frame) {
    std::set<std::uint32_t> ranks;
    std::set<std::string_view> hosts;
    for (const FramePlace& place : frame.places) {
        ranks.insert(place.rank);
        if (!place.host.empty()) hosts.insert(place.host);
    }
    std::string words = fmt::format("{}: {}, {}", frame.tool, plural(frame.nodes.size() - 1, "call path"), plural(ranks.size(), "rank"));
    if (!hosts.empty()) words += fmt::format(" on {}", plural(hosts.size(), "host"));
    if (frame.places.size() != ranks.size()) words += fmt::format(", {}", plural(frame.places.size(), "thread"));
    return words;
}

std::string lack_words(const Frame& frame) {
    const FrameNodes& nodes = frame.nodes;
    std::vector<std::string> missing = {"iterations", "phases"};
    if (frame.find_column("visits") == nullptr) missing.emplace_back("numbers of calls");
    if (frame.places.size() == 1 && frame.places[0].rank == 0) missing.emplace_back("ranks");
    if (std::all_of(nodes.parent.begin(), nodes.parent.end(), [](std::uint32_t parent) { return parent == 0; })) missing.emplace_back("call paths");
    if (std::all_of(nodes.file.begin(), nodes.file.end(), [](std::uint32_t file) { return file == 0; })) missing.emplace_back("source lines");
    std::string list;
    for (std::size_t i = 0; i < missing.size(); ++i) list += (i == 0 ? "" : i + 1 == missing.size() ? " or " : ", ") + missing[i];
    return fmt::format("no {} are read from it, so nothing is said about them", list);
}

const FrameColumn& main_column(const Frame& frame) {
    if (frame.columns.empty()) throw FrameError("the profile has no metrics");
    const FrameColumn* time = frame.find_column("time");
    return time == nullptr ? frame.columns[0] : *time;
}

std::string short_name(const Frame& frame, std::uint32_t node) {
    const std::string& name = frame.name_of(node);
    return name.empty() || name[0] == '<' ? name : short_function_name(name);
}

bool is_mpi(const Frame& frame, std::uint32_t node) {
    std::string_view name = frame.name_of(node);
    if (name.substr(0, 1) == "P" || name.substr(0, 1) == "p") name.remove_prefix(1);
    // Fortran's entry points are in lower case.
    return name.substr(0, 4) == "MPI_" || name.substr(0, 4) == "mpi_" || frame.texts[frame.nodes.kind[node]] == "mpi";
}

std::vector<bool> nodes_in_mpi(const Frame& frame) {
    std::vector<bool> inside(frame.nodes.size());
    for (std::uint32_t n = 1; n < inside.size(); ++n) inside[n] = inside[frame.nodes.parent[n]] || is_mpi(frame, n);
    return inside;
}

} // namespace libprofile::tools
