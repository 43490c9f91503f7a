#include "tools/comparison/changed_calls_words.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace libprofile::tools {

namespace {

constexpr std::size_t numbers_shown = 3;
constexpr std::size_t most_events = 2;

std::vector<std::uint64_t> from_one(std::vector<std::uint64_t> iterations) {
    for (std::uint64_t& iteration : iterations) ++iteration;
    return iterations;
}

/// "3", "1 to 7".
std::string range_text(std::uint64_t least, std::uint64_t most) {
    return least == most ? count(static_cast<double>(most)) : fmt::format("{} to {}", count(static_cast<double>(least)), count(static_cast<double>(most)));
}

/// "once", "3 times", "1 to 7 times".
std::string times_text(const ChangedCall& call) { return call.most == 1 ? "once" : range_text(call.least, call.most) + " times"; }

std::string what_happened(const ChangedCall& call) {
    const std::string in = call.caller.empty() ? "" : " in " + call.caller, into = call.caller.empty() ? "" : " into " + call.caller,
                      from = call.caller.empty() ? "" : " from " + call.caller;
    const std::string who = call.call + (call.is_in_a_row ? " and what follows it" : "");
    const std::string name = call.most_calls <= 1 ? who : fmt::format("{} ({} calls)", who, range_text(call.least_calls, call.most_calls));
    const std::string times = fmt::format(", {} an iteration", times_text(call)), now_and_then = call.most == 1 ? "" : times;
    switch (call.kind) {
    case TreeChangeKind::Added: return fmt::format("{} was added{}{}", name, in, times);
    case TreeChangeKind::Removed: return fmt::format("{} was removed{}{}", name, from, times);
    case TreeChangeKind::Moved: return fmt::format("{} was moved{}, {}{}", name, in, call.now.empty() ? "to the front" : "behind " + call.now, now_and_then);
    case TreeChangeKind::Renamed: return fmt::format("{}{} was renamed to {}{}", name, in, call.now, now_and_then);
    case TreeChangeKind::Inlined: return fmt::format("{} was inlined{}{}", name, into, now_and_then);
    case TreeChangeKind::Outlined: return fmt::format("{} was outlined{}{}", name, from, now_and_then);
    case TreeChangeKind::MoreOften: return fmt::format("{} is called {} more an iteration{}", name, times_text(call), in);
    case TreeChangeKind::LessOften: return fmt::format("{} is called {} less an iteration{}", name, times_text(call), in);
    }
    return "";
}

/// "15 iterations (10, 20, 30, ...)", "all 300 iterations".
std::string which_iterations(const std::vector<std::uint64_t>& iterations, std::uint64_t all) {
    if (iterations.size() == all && all > 1) return fmt::format("all {}", plural(all, "iteration"));
    const std::string numbers = number_ranges(from_one(iterations), numbers_shown);
    return iterations.size() == 1 ? "iteration " + numbers : fmt::format("{} ({})", plural(iterations.size(), "iteration"), numbers);
}

} // namespace

std::string changed_call_text(const ChangedCall& call, const ChangedCalls& all, std::uint64_t iterations) {
    const std::string ranks = all.ranks_of_runs == 1 ? "" : call.ranks.size() == all.ranks_of_runs ? ", on all ranks" : ", on " + rank_words(call.ranks);
    return printable(fmt::format("in {}, {}{}", which_iterations(call.iterations, iterations), what_happened(call), ranks));
}

std::vector<std::string> changed_calls_text(const ChangedCalls& calls, std::uint64_t iterations, const std::string& before, const std::string& after,
                                            std::size_t lines) {
    std::vector<std::string> text;
    if (calls.has_order[0] != calls.has_order[1])
        text.push_back(
            printable(fmt::format("the order of calls is known of {} only; record both runs with LIBPROFILE_ORDER=1", calls.has_order[0] ? before : after)));
    for (const ChangedCall& call : calls.calls) {
        if (text.size() == lines) break;
        text.push_back(changed_call_text(call, calls, iterations));
    }
    if (calls.calls.size() > lines)
        text.push_back(fmt::format("{} of calls; --top N shows more, --format json all", plural(calls.calls.size() - lines, "other change")));
    if (calls.untold != 0)
        text.push_back(
            fmt::format("of {} of {} iterations of ranks that differ inside, it is not told in what: the {} most frequent pairs of call trees are looked into",
                        count(static_cast<double>(calls.untold)), count(static_cast<double>(calls.different)), most_different_pairs));
    if (calls.unknown != 0)
        text.push_back(fmt::format("the order of calls is not known of {} of {} iterations of ranks", count(static_cast<double>(calls.unknown)),
                                   count(static_cast<double>(calls.compared + calls.unknown))));
    return text;
}

std::vector<std::string> typical_events_text(const TypicalEvents& typical, double least_shift, const std::string& before) {
    std::vector<const TypicalEvent*> told;
    for (const TypicalEvent& event : typical.events) {
        const bool is_later = event.least_added >= least_shift && event.later() >= least_shift;
        const bool is_earlier = event.most_added <= -least_shift && event.later() <= -least_shift;
        if (is_later || is_earlier) told.push_back(&event);
    }
    const auto added = [](const TypicalEvent& event) { return std::min(std::abs(event.least_added), std::abs(event.most_added)); };
    std::stable_sort(told.begin(), told.end(), [&](const TypicalEvent* x, const TypicalEvent* y) { return added(*x) > added(*y); });
    if (told.size() > most_events) told.resize(most_events);
    std::sort(told.begin(), told.end()); // as they come
    std::vector<std::string> text;
    text.reserve(told.size());
    for (const TypicalEvent* event : told)
        text.push_back(
            printable(fmt::format("in the most frequent iteration, {}{} begins {} {}: {} after its begin, {} {}", event->call,
                                  event->caller.empty() ? "" : " in " + event->caller, duration(std::abs(event->later()), {}),
                                  event->later() > 0 ? "later" : "earlier", duration(event->begin_after, {}), before, duration(event->begin_before, {}))));
    return text;
}

ReportTable changed_calls_table() {
    ReportTable table{"changed_calls", "", "", {}, {}, {}, {}, 0, ""};
    for (const char* key : {"run", "change", "call", "caller", "now"}) table.columns.push_back({key, "", ColumnUnit::Text});
    for (const char* key : {"iterations", "least", "most", "least_calls", "most_calls"}) table.columns.push_back({key, "", ColumnUnit::Count});
    for (const char* key : {"ranks", "numbers"}) table.columns.push_back({key, "", ColumnUnit::Text});
    return table;
}

ReportTable typical_events_table() {
    ReportTable table{"events", "", "", {}, {}, {}, {}, 0, ""};
    for (const char* key : {"run", "call", "caller"}) table.columns.push_back({key, "", ColumnUnit::Text});
    table.columns.push_back({"count", "", ColumnUnit::Count});
    for (const char* key : {"begin_before", "begin_after", "length_before", "length_after"}) table.columns.push_back({key, "", ColumnUnit::Ns});
    return table;
}

void add_rows(const std::string& run, const ChangedCalls& calls, ReportTable& to) {
    const std::size_t all = std::numeric_limits<std::size_t>::max();
    for (const ChangedCall& call : calls.calls)
        to.rows.push_back({printable(run), std::string(tree_change_name(call.kind)), printable(call.call), printable(call.caller), printable(call.now),
                           std::uint64_t{call.iterations.size()}, call.least, call.most, call.least_calls, call.most_calls, number_ranges(call.ranks, all),
                           number_ranges(from_one(call.iterations), all)});
}

void add_rows(const std::string& run, const TypicalEvents& typical, ReportTable& to) {
    for (const TypicalEvent& event : typical.events)
        to.rows.push_back({printable(run), printable(event.call), printable(event.caller), event.count, event.begin_before, event.begin_after,
                           event.length_before, event.length_after});
}

} // namespace libprofile::tools
