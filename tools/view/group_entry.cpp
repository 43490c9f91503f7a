#include "tools/view/group_entry.hpp"

#include "tools/names/labels.hpp"
#include "tools/processes/merged_calls.hpp"
#include "tools/processes/process_pictures.hpp"
#include "tools/processes/process_words.hpp"
#include "tools/report/choice.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"
#include "tools/view/flat_ranges.hpp"
#include "tools/view/skew_entry.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_groups = 12, most_rows = 16, most_points = 4096, most_calls = 2000;

Json rank_ranges(const std::vector<const Location*>& locations, const std::vector<std::uint32_t>& rows) {
    std::vector<std::uint32_t> ranks;
    for (const std::uint32_t row : rows) ranks.push_back(locations[row]->rank);
    return flat_ranges(ranks);
}

/// The first of them, and how many are left out.
Json merged_entry(const ComparedProcesses& p) {
    const std::vector<MergedCall> calls = merged_calls(p);
    if (calls.empty()) return nullptr;
    Json list = Json::array();
    for (std::size_t c = 0; c < std::min(most_calls, calls.size()); ++c) {
        const MergedCall& call = calls[c];
        list.push_back(
            {{"depth", call.depth},
             {"name", call.name},
             {"class", merged_class_name(call.kind)},
             {"ranks", call.kind == MergedClass::NotAll ? rank_words(call.ranks) : std::string("all ranks")},
             {"times", call.least == call.most ? count(static_cast<double>(call.most))
                                               : fmt::format("{} to {}", count(static_cast<double>(call.least)), count(static_cast<double>(call.most)))}});
    }
    return {{"calls", list}, {"left_out", calls.size() - list.size()}};
}

class Strips {
  public:
    explicit Strips(const RankStates& states) : states_(states), window_((states.iterations + most_points - 1) / most_points) {}

    void add(std::span<const std::uint32_t> rows, FoldBy by) {
        const std::vector<FoldedSpan> strip = thinned(folded_strip(states_, rows, by));
        counts_.push_back(strip.size());
        for (const FoldedSpan& span : strip) {
            spans_.add(span.length);
            spans_.add(span.state == no_state ? 0 : std::uint64_t{span.state} + 1);
            spans_.add(span.ranks);
        }
    }
    std::size_t window() const { return window_; }
    const Json& counts() const { return counts_; }
    const NumberColumn& spans() const { return spans_; }

  private:
    /// Of each window the state that most of its iterations are in, of those that are in one: an outlier must not vanish.
    std::vector<FoldedSpan> thinned(const std::vector<FoldedSpan>& strip) const {
        if (window_ == 1) return strip;
        std::vector<FoldedSpan> thin;
        std::vector<FoldedSpan> inside; // of the window, by state
        std::size_t at = 0;
        const std::uint64_t end = states_.first + states_.iterations;
        for (std::uint64_t from = states_.first; from < end; from += window_) {
            const std::uint64_t to = std::min<std::uint64_t>(from + window_, end);
            inside.clear();
            while (at < strip.size() && strip[at].first + strip[at].length <= from) ++at;
            for (std::size_t k = at; k < strip.size() && strip[k].first < to; ++k) {
                const std::uint64_t length = std::min(strip[k].first + strip[k].length, to) - std::max(strip[k].first, from);
                const auto same = std::find_if(inside.begin(), inside.end(), [&](const FoldedSpan& one) { return one.state == strip[k].state; });
                if (same == inside.end()) {
                    inside.push_back({from, length, strip[k].state, strip[k].ranks});
                } else {
                    same->length += length;
                    same->ranks = std::max(same->ranks, strip[k].ranks);
                }
            }
            FoldedSpan most = *std::max_element(inside.begin(), inside.end(), [](const FoldedSpan& x, const FoldedSpan& y) {
                return std::pair(x.state != no_state, x.length) < std::pair(y.state != no_state, y.length);
            });
            most.length = to - from;
            if (!thin.empty() && thin.back().state == most.state && thin.back().ranks == most.ranks)
                thin.back().length += most.length;
            else
                thin.push_back(most);
        }
        return thin;
    }

    const RankStates& states_;
    std::size_t window_; // iterations in a point
    Json counts_ = Json::array();
    NumberColumn spans_;
};

} // namespace

Json groups_entry(const Profile& profile, const std::vector<const Location*>& mains, Sections& sections) {
    std::vector<const Location*> locations;
    std::copy_if(mains.begin(), mains.end(), std::back_inserter(locations), [](const Location* location) { return location != nullptr; });
    if (locations.size() < 2 || iterated_phases(profile, locations).empty()) return nullptr;
    ReportChoice iterations;
    iterations.iterations = IterationRange{};
    ProcessChoice choice;
    choice.by_samples = false; // the page does not show it
    try {
        choice.phase = find_choice(profile, iterations).phase;
    } catch (const SelectionError&) { // the phase with most time has no iterations, as in damaged profiles
        return nullptr;
    }
    choice.cells = 0; // the page finds them itself
    const ComparedProcesses p = compare_processes(profile, locations, choice);
    if (p.states.locations.size() < 2) return nullptr;
    const ProcessWords say(profile, p, false);

    Strips strips(p.states);
    Json groups = Json::array();
    const auto add = [&](const std::string& name, const std::vector<std::uint32_t>& rows, const Json& ranks, std::size_t count, const std::string& sentence,
                         bool unfolds) {
        for (const FoldBy by : {FoldBy::Dominating, FoldBy::Outliers, FoldBy::Use}) strips.add(rows, by);
        Json members = Json::array();
        for (std::size_t r = 0; unfolds && r < std::min(most_rows, rows.size()); ++r) {
            strips.add(std::span(rows).subspan(r, 1), FoldBy::Dominating);
            members.push_back(p.states.locations[rows[r]]->rank);
        }
        groups.push_back({{"name", name}, {"ranks", ranks}, {"count", count}, {"sentence", spelled({}, sentence)}, {"rows", members}});
    };
    std::vector<std::uint32_t> all(p.states.locations.size());
    std::iota(all.begin(), all.end(), 0u);
    const bool several = p.shown().size() > 1;
    add("all", all, Json::array(), all.size(), "", !several);
    for (std::size_t g = 0; several && g < std::min(most_groups, p.shown().size()); ++g) {
        const std::vector<std::uint32_t>& rows = p.shown()[g].rows;
        const std::string parting = say.parting(g), changes = say.changes(g);
        add(group_name(g), p.rows_of_group[g], rank_ranges(p.locations, rows), rows.size(),
            fmt::format("{}{}{}", say.rows(rows), parting.empty() ? "" : "; parts from A " + parting, changes.empty() ? "" : "; " + changes), true);
    }
    Json states = Json::array(), remarks = Json::array(), distances = Json::array();
    const std::string letters = state_letters(p.states);
    for (std::size_t s = 0; s < p.states.names.size(); ++s) states.push_back({{"name", printable(p.states.names[s])}, {"letter", std::string(1, letters[s])}});
    for (const std::string& sentence : say.remarks()) remarks.push_back(spelled({}, sentence));
    for (const std::string& sentence : say.distances()) distances.push_back(spelled({}, sentence));
    return {{"phase", *p.phase},
            {"iterations", p.states.iterations},
            {"window", strips.window()},
            {"levels", say.levels()},
            {"distances", distances},
            {"remarks", remarks},
            {"states", states},
            {"groups", groups},
            {"left_out", several ? p.shown().size() - std::min(most_groups, p.shown().size()) : 0},
            {"counts", strips.counts()},
            {"spans", sections.add(strips.spans())},
            {"merged", merged_entry(p)},
            {"skew", skew_entry(p, strips.window(), sections)}};
}

} // namespace libprofile::tools
