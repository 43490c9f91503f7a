#include "tools/comparison/comparison_words.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_lines = 6;
constexpr double worth_telling = 0.01; // share of the whole
constexpr double of_difference = 0.05; // share of the whole's difference
constexpr double same_calls = 1e-6;    // relative
constexpr double same_number = 0.005;  // as text shows ratios

double share_of(double part, double whole) { return whole == 0 ? 0 : std::abs(part / whole); }

std::string times(double ratio) { return fmt::format("{:.{}f} times", ratio, ratio < 9.95 ? 2 : 0); }

std::string head(const Comparison& comparison, const GroupComparison& one, const std::vector<RunGroup>& groups, const Amounts& amounts) {
    const RunGroup &before = groups.front(), &after = groups[one.group];
    const Change& whole = one.whole;
    std::string chance = repetitions_text(before.name, before.runs.size(), after.name, after.runs.size());
    if (before.runs.size() > 1 || after.runs.size() > 1) chance += fmt::format(", spread {}", amounts.text(one.spread));
    const std::string values =
        fmt::format("{}{}, {} {}", amounts.text(whole.after), comparison.is_of_time ? "" : " a rank", before.name, amounts.text(whole.before));
    const std::string by = percent(std::abs(one.share()));
    std::string text;
    if (whole.difference() == 0)
        text = fmt::format("{} and {} do not differ: {} ({})", after.name, before.name, amounts.text(whole.after), chance);
    else if (whole.is_chance())
        text = fmt::format("{} and {} do not differ beyond chance: {} and {} ({}; differences up to {} may be chance)", after.name, before.name,
                           amounts.text(whole.after), amounts.text(whole.before), chance, amounts.text(whole.error));
    else if (whole.before == 0)
        text = fmt::format("only {} has {}: {} ({})", after.name, comparison.metric, values, chance);
    else if (comparison.is_of_time)
        text = fmt::format("{} is {} {}: {} ({})", after.name, by, whole.difference() > 0 ? "slower" : "faster", values, chance);
    else
        text = fmt::format("{} has {} {} {}: {} ({})", after.name, by, whole.difference() > 0 ? "more" : "less", comparison.metric, values, chance);
    return printable(text);
}

/// "same calls, 1.31 times as long".
std::string how(const ActivityChange& one, const std::string& after, bool is_of_time) {
    if (!is_of_time || one.visits.before == 0 || one.visits.after == 0 || one.there.before == 0 || one.there.after == 0)
        return ratio_text(one.there, after, is_of_time);
    const double calls = one.visits.after / one.visits.before, longer = one.there.after / one.there.before;
    if (std::abs(calls - 1) <= same_calls) {
        const double bytes = one.bytes.before == 0 || one.bytes.after == 0 ? 1 : one.bytes.after / one.bytes.before;
        const bool has_more = std::abs(bytes - 1) > same_number && one.ranks.empty(); // the bytes are those of all ranks
        return (has_more ? fmt::format("same calls with {} the bytes, ", times(bytes)) : "same calls, ") + ratio_text(one.there, after, is_of_time);
    }
    if (!one.ranks.empty()) return ratio_text(one.there, after, is_of_time); // the calls are those of all ranks
    return fmt::format("{} as many calls, each {} as long", times(calls), times(longer / calls));
}

/// "rank 0", "ranks 1-3 (1-7 of after)"; empty: all.
std::string ranks_text(const ActivityChange& one, const std::string& after) {
    if (one.ranks.empty()) return "";
    const std::string text = rank_words(one.ranks);
    if (one.ranks == one.ranks_after) return text;
    return fmt::format("{} ({} of {})", text, number_ranges(one.ranks_after), after);
}

DifferenceLine line(const ActivityChange& one, const std::string& after, const Comparison& comparison, const Amounts& amounts) {
    const std::string ranks = ranks_text(one, after);
    DifferenceLine result{amounts.difference(one.there.difference()), time_use_name(one.activity.use), ""};
    const std::string activity = activity_text(one.activity), chance = one.there.error > 0 ? fmt::format(" (+-{})", amounts.text(one.there.error)) : "";
    if (one.waits)
        result.text = fmt::format("{}{}{}; what they wait for:", activity, !ranks.empty() ? ", " + ranks : one.is_everywhere ? ", all ranks" : "", chance);
    else
        result.text = fmt::format("{}{}, {}{}", ranks.empty() ? "" : fmt::format("on {}: ", ranks), activity, how(one, after, comparison.is_of_time), chance);
    return result;
}

} // namespace

std::string repetitions_text(const std::string& before, std::size_t runs_before, const std::string& after, std::size_t runs_after) {
    if (runs_before == runs_after) return fmt::format("{} run{} each", number_word(runs_after), runs_after == 1 ? "" : "s");
    return fmt::format("{} run{} of {}, {} of {}", number_word(runs_after), runs_after == 1 ? "" : "s", after, number_word(runs_before), before);
}

Amounts amounts_of(const Comparison& comparison, const GroupComparison& one) { return {std::max(one.whole.before, one.whole.after), comparison.unit}; }

std::string chance_text(const Change& change, const Amounts& amounts) {
    if (std::isnan(change.error)) return "unknown";
    if (change.error == 0) return "";
    return fmt::format("+-{}{}", amounts.text(change.error), change.is_chance() ? ": within chance" : "");
}

std::string ratio_text(const Change& change, const std::string& after, bool is_of_time) {
    if (change.before == 0) return printable(fmt::format("only in {}", after));
    if (change.after == 0) return printable(fmt::format("not in {}", after));
    const double ratio = change.after / change.before;
    if (std::abs(ratio - 1) < same_number) return is_of_time ? "as long as before within 0.5 %" : "as much as before within 0.5 %";
    return fmt::format("{} as {}", times(ratio), is_of_time ? "long" : "much");
}

ComparisonWords words_of(const Comparison& comparison, const GroupComparison& one, const std::vector<RunGroup>& groups) {
    const Amounts amounts = amounts_of(comparison, one);
    const RunGroup &before = groups.front(), &after = groups[one.group];
    ComparisonWords words;
    words.head = head(comparison, one, groups, amounts);
    const double whole = std::max(one.mean.before, one.mean.after);
    const auto is_large = [&](const ActivityChange& a) {
        // Means over other numbers of ranks differ for that alone.
        const double difference = a.ranks == a.ranks_after ? a.change.difference() : a.there.difference();
        return share_of(difference, whole) >= worth_telling || (!one.whole.is_chance() && share_of(difference, one.whole.difference()) >= of_difference);
    };
    std::vector<const ActivityChange*> told;
    std::size_t within_chance = 0;
    double largest_chance = 0;
    for (const ActivityChange& a : one.activities)
        if (a.waits) told.push_back(&a);
    for (const bool waited_for : {true, false})
        for (const ActivityChange& a : one.activities) {
            if (a.waits || a.is_waited_for != waited_for || (!waited_for && !is_large(a))) continue;
            if (a.there.is_chance()) {
                ++within_chance;
                largest_chance = std::max(largest_chance, std::abs(a.there.difference()));
            } else if (told.size() < most_lines) {
                told.push_back(&a);
            }
        }
    for (const ActivityChange* a : told) words.lines.push_back(line(*a, after.name, comparison, amounts));
    if (within_chance != 0)
        words.remarks.push_back(fmt::format("{} more {}, up to {}, {} within chance", within_chance, within_chance == 1 ? "difference" : "differences",
                                            amounts.text(largest_chance), within_chance == 1 ? "is" : "are"));
    if (told.empty() && within_chance == 0) words.remarks.emplace_back("no function differs by more than 1 % of the run");
    if (before.runs.size() == 1 && after.runs.size() == 1)
        words.remarks.emplace_back("how much runs vary by chance is not known from one run each; repeat them: --baseline A1 A2 A3 -- B1 B2 B3");
    words.remarks.insert(words.remarks.end(), one.remarks.begin(), one.remarks.end());
    for (std::string& remark : words.remarks) remark = printable(remark);
    return words;
}

} // namespace libprofile::tools
