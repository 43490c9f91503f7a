#include "tools/view/over_time_entry.hpp"

#include "tools/comparison/change_class.hpp"
#include "tools/comparison/over_time_words.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"
#include "tools/view/aligned_axis.hpp"
#include "tools/view/series_column.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_curve_points = 4096, most_functions = 12;

Json spelled_list(const std::vector<std::string>& sentences) {
    Json list = Json::array();
    for (const std::string& sentence : sentences) list.push_back(spelled({}, printable(sentence)));
    return list;
}

Json function_entry(const ActivityChange& one) {
    std::string ranks = number_ranges(one.ranks);
    if (one.ranks != one.ranks_after) ranks += fmt::format(" ({})", number_ranges(one.ranks_after)); // of a run with another number of ranks
    const Activity& activity = one.activity;
    const std::string file = base_name(activity.file);
    return {{"difference", one.change.difference()},
            {"error", std::isnan(one.change.error) ? Json() : Json(one.change.error)},
            {"kind", time_use_name(activity.use)},
            {"change", change_class_name(change_class(one))},
            {"function", printable(activity.name)},
            {"caller", printable(activity.caller)},
            {"below", printable(activity.below)},
            {"place", printable(activity.line == 0 ? file : fmt::format("{}:{}", file, activity.line))},
            {"ranks", ranks}};
}

class GroupEntry {
  public:
    GroupEntry(const RunsOverTime& result, const GroupOverTime& one, const std::vector<ProfiledGroup>& groups, const RunChoice& choice)
        : one_(one), groups_(groups), words_(words_of(result, one, groups)) {
        const std::vector<AlignedPair>& pairs = one.pairs;
        IterationSpan before{0, result.iterations}, after{0, one.made};
        if (choice.iterations) {
            before = {choice.iterations->first, std::min(choice.iterations->last, result.iterations - 1) + 1};
            after = {pairs.front().after, pairs.back().after + 1};
        }
        first_before_ = before.first;
        first_after_ = after.first;
        axis_ = aligned_axis(pairs, before, after, most_curve_points);
    }

    Json made(std::size_t group, Sections& sections) const {
        return {{"group", group},
                {"why", ""},
                {"head", spelled({}, words_.head)},
                {"remarks", spelled_list(words_.remarks)},
                {"first", {first_before_, first_after_}},
                {"places", axis_.places},
                {"window", axis_.window},
                {"columns", columns(sections)},
                {"segments", segments()}};
    }

  private:
    /// Sums run from the first point on, so that rounding does not add up. Points of one place need no extremes.
    Json columns(Sections& sections) const {
        NumberColumn pairs, alone_before, alone_after;
        SeriesColumn before, after;
        SeriesColumn extremes[6];
        double sum_before = 0, sum_after = 0;
        for (const AxisPoint& point : axis_.points) {
            pairs.add(point.pairs);
            alone_before.add(point.alone_before);
            alone_after.add(point.alone_after);
            before.add(sum_before += point.ns_before);
            after.add(sum_after += point.ns_after);
            const double values[] = {point.least_before, point.most_before, point.least_after, point.most_after, point.least_difference, point.most_difference};
            for (std::size_t e = 0; e < std::size(values); ++e) extremes[e].add(values[e]);
        }
        Json list = {{"pairs", sections.add(pairs)},
                     {"alone_before", sections.add(alone_before)},
                     {"alone_after", sections.add(alone_after)},
                     {"before", sections.add(before.column())},
                     {"after", sections.add(after.column())},
                     {"extremes", Json::array()}};
        if (axis_.window > 1)
            for (const SeriesColumn& column : extremes) list["extremes"].push_back(sections.add(column.column()));
        return list;
    }

    Json segments() const {
        Json list = Json::array();
        std::size_t pair = 0, told = 0;
        for (const SegmentChange& segment : one_.segments) {
            Json entry = {{"from", axis_.place_of_pair[pair]},
                          {"to", axis_.place_of_pair[pair + segment.pairs - 1] + 1},
                          {"pairs", segment.pairs},
                          {"iterations", printable(iterations_text(segment, groups_[one_.group].name))},
                          {"before", segment.each.before},
                          {"after", segment.each.after},
                          {"error", std::isnan(segment.each.error) ? Json() : Json(segment.each.error)},
                          {"total", segment.total()},
                          {"change", segment.is_change},
                          {"chance", segment_chance(segment)},
                          {"head", ""},
                          {"lines", Json::array()},
                          {"functions", Json::array()},
                          {"left_out", 0}};
            if (segment.is_change) explain(segment, words_.segments[told++], entry);
            pair += segment.pairs;
            list.push_back(std::move(entry));
        }
        return list;
    }

    static void explain(const SegmentChange& segment, const SegmentWords& words, Json& entry) {
        entry["head"] = spelled({}, words.head);
        for (const DifferenceLine& line : words.lines)
            entry["lines"].push_back({{"amount", spelled({}, line.amount)}, {"use", line.use}, {"text", spelled({}, line.text)}});
        const std::vector<ActivityChange>& activities = segment.comparison.groups.front().activities;
        const std::size_t shown = std::min(most_functions, activities.size());
        for (std::size_t a = 0; a < shown; ++a) entry["functions"].push_back(function_entry(activities[a]));
        entry["left_out"] = activities.size() - shown;
    }

    const GroupOverTime& one_;
    const std::vector<ProfiledGroup>& groups_;
    OverTimeWords words_;
    std::uint64_t first_before_ = 0, first_after_ = 0; // iterations with which the axis begins
    AlignedAxis axis_;
};

/// Calls compare(). Returns why it could not be done; empty if it could.
template <class Compare> std::string attempt(Compare compare) {
    try {
        compare();
        return "";
    } catch (const ExportError& error) {
        return error.what();
    } catch (const FrameError& error) {
        return error.what();
    }
}

} // namespace

Json over_time_entry(const OverTimeRequest& request, Sections& sections) {
    Json entry = {{"why", ""}, {"phase", ""}, {"remarks", Json::array()}, {"groups", Json::array()}};
    if (request.groups == nullptr) {
        entry["why"] = spelled({}, printable(request.absent));
        return entry;
    }
    const std::vector<ProfiledGroup>& groups = *request.groups;
    const auto add = [&](const RunsOverTime& result, const std::vector<ProfiledGroup>& of, std::size_t first_group) {
        entry["phase"] = printable(result.phase);
        for (Json& remark : spelled_list(result.remarks))
            if (std::find(entry["remarks"].begin(), entry["remarks"].end(), remark) == entry["remarks"].end()) entry["remarks"].push_back(remark);
        for (const GroupOverTime& one : result.groups)
            entry["groups"].push_back(GroupEntry(result, one, of, request.choice).made(first_group + one.group - 1, sections));
    };
    const std::string why = attempt([&] { add(compare_over_time(groups, request.choice, request.forced), groups, 1); });
    if (why.empty()) return entry;
    if (groups.size() == 2) {
        entry["why"] = spelled({}, printable(why));
        return entry;
    }
    // Each by itself: some can be compared.
    for (std::size_t group = 1; group < groups.size(); ++group) {
        const std::vector<ProfiledGroup> two = {groups.front(), groups[group]};
        const std::string why_not = attempt([&] { add(compare_over_time(two, request.choice, request.forced), two, group); });
        if (!why_not.empty()) entry["groups"].push_back({{"group", group}, {"why", spelled({}, printable(why_not))}});
    }
    return entry;
}

} // namespace libprofile::tools
