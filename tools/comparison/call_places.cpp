#include "tools/comparison/call_places.hpp"

#include "tools/frames/place_values.hpp"
#include "tools/frames/table_frame.hpp"

#include <map>
#include <string_view>
#include <tuple>

namespace libprofile::tools {

namespace {

/// What a table without lines tells nodes apart by, besides their parents.
std::tuple<std::string_view, std::string_view, std::string_view, std::string_view> identity(const Frame& frame, std::uint32_t node) {
    const FrameNodes& nodes = frame.nodes;
    return {frame.texts[nodes.kind[node]], frame.name_of(node), frame.texts[nodes.file[node]], frame.texts[nodes.module[node]]};
}

} // namespace

void set_call_places(Frame& frame, const Profile& profile, TableChoice choice) {
    choice.by_line = true;
    choice.parts.clear();
    choice.iterations.reset(); // calls are where they are, and single iterations take time to read
    choice.with_errors = false;
    choice.metrics = {"time"};
    const Frame lines = frame_of(make_call_table(profile, choice));
    std::map<std::pair<std::uint32_t, decltype(identity(frame, 0))>, std::uint32_t> known;
    for (std::uint32_t n = 1; n < frame.nodes.size(); ++n) known.emplace(std::pair(frame.nodes.parent[n], identity(frame, n)), n);
    const std::vector<double> time = sums_over_places(lines, "time", false);
    std::vector<std::uint32_t> same(lines.nodes.size());                                          // by node of `lines`: that of the frame; 0: none
    std::map<std::uint32_t, std::map<std::pair<std::string_view, std::uint32_t>, double>> places; // by node of the frame: time by file and line
    for (std::uint32_t n = 1; n < lines.nodes.size(); ++n) {
        const std::uint32_t caller = lines.nodes.parent[n];
        if (caller != 0 && same[caller] == 0) continue;
        const auto found = known.find({same[caller], identity(lines, n)});
        if (found == known.end()) continue;
        same[n] = found->second;
        if (is_call(lines.texts[lines.nodes.kind[n]]) && lines.nodes.line[caller] != 0)
            places[same[n]][{lines.texts[lines.nodes.file[caller]], lines.nodes.line[caller]}] += time[n];
    }
    for (const auto& [node, by_place] : places) {
        auto best = by_place.begin();
        for (auto at = by_place.begin(); at != by_place.end(); ++at)
            if (at->second > best->second) best = at;
        frame.nodes.file.set(node, frame.texts.number(best->first.first));
        frame.nodes.line.set(node, best->first.second);
    }
}

} // namespace libprofile::tools
