#include "tools/comparison/over_time_words.hpp"

#include "tools/comparison/changed_calls_words.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t usual_lines = 4;  // of a segment
constexpr double unlike = 0.5;          // share of calls without a partner, from which iterations are hardly the same
constexpr double worth_telling = 0.005; // share of the run
constexpr double worth_a_doubt = 0.25;  // part of a difference that computing has, on some rank

std::string by_text(const Change& change) {
    return fmt::format("{} {}", percent(std::abs(change.difference() / change.before)), change.difference() > 0 ? "slower" : "faster");
}

std::string range_text(const IterationRange& range) {
    return range.first == range.last ? fmt::format("{}", range.first + 1) : fmt::format("{}-{}", range.first + 1, range.last + 1);
}

/// "12 iterations", "1.5 iterations" on average over runs.
std::string number_of_iterations(double n) {
    return fmt::format("{} iteration{}", std::abs(n - std::round(n)) < 0.05 ? count(n) : fmt::format("{:.1f}", n), n == 1 ? "" : "s");
}

/// Of a change that the machine may have made, too.
DifferenceLine doubt(const SegmentChange& segment, const GroupComparison& comparison) {
    const auto ranks = static_cast<double>(std::max<std::size_t>(1, comparison.ranks_after));
    const double computing = comparison.by_use[static_cast<std::size_t>(TimeUse::Computing)].difference() * ranks;
    if (computing / segment.total() >= worth_a_doubt)
        return {"", "computing", "samples do not tell whether some functions differ, or all, as on another processor"};
    return {"", "waiting", "waits have most of it; other programs on the machine make ranks wait, too"};
}

SegmentWords words_of(const SegmentChange& segment, const std::string& before, const std::string& after, std::size_t lines) {
    const Amounts each(std::max(segment.each.before, segment.each.after), "ns"), all(std::abs(segment.total()), "ns");
    SegmentWords words;
    words.head = printable(fmt::format("iteration{} {} {} {}: {}{}, {} {} ({} in all, +-{}{})", segment.pairs == 1 ? "" : "s", iterations_text(segment, after),
                                       segment.pairs == 1 ? "is" : "are", by_text(segment.each), each.text(segment.each.after),
                                       segment.pairs == 1 ? "" : " each", before, each.text(segment.each.before), all.difference(segment.total()),
                                       each.text(segment.each.error), segment.pairs == 1 ? "" : " each"));
    const GroupComparison& comparison = segment.comparison.groups.front();
    words.lines = words_of(segment.comparison, comparison, segment.groups).lines;
    if (words.lines.size() > lines) words.lines.resize(lines);
    if (segment.evidence == ChangeEvidence::None) words.lines.push_back(doubt(segment, comparison));
    if (segment.instructions.before > 0)
        words.lines.push_back({"", "work", fmt::format("{:.2f} times the instructions", segment.instructions.after / segment.instructions.before)});
    return words;
}

/// Of pairs with other calls, the mean share of these; NaN: not known.
double share_alone(const GroupOverTime& one) {
    double sum = 0, pairs = 0;
    for (const AlignedPair& pair : one.pairs)
        if (pair.dissimilarity > 0) sum += pair.dissimilarity, ++pairs;
    return pairs == 0 ? std::nan("") : sum / pairs;
}

/// ", of which 31 % on average have no partner".
std::string alone_text(const GroupOverTime& one) {
    const double share = share_alone(one);
    return std::isnan(share) || one.pairs.size() != one.alignment.pairs ? "" : fmt::format(", of which {} on average have no partner", percent(share));
}

std::string alignment_text(const GroupOverTime& one, const std::string& before, const std::string& after) {
    std::string text =
        fmt::format("{} of iterations of {} and {}, aligned by {}", plural(one.alignment.pairs, "pair"), before, after, align_by_name(one.alignment.by));
    if (one.pairs.size() != one.alignment.pairs) text += " as a whole";
    if (!one.alignment.is_known)
        text += "; the calls of some are not known";
    else {
        const auto number = [](std::size_t n) { return count(static_cast<double>(n)); };
        const std::size_t same = one.alignment.pairs - one.alignment.different;
        const std::string reordered = one.alignment.reordered == 0 ? "" : fmt::format("{} in another order", number(one.alignment.reordered));
        if (one.alignment.different == 0)
            text += ": both have the same calls" + (reordered.empty() ? "" : ", " + reordered);
        else
            text += fmt::format(": {} with the same calls{}, {} with others{}", number(same), reordered.empty() ? "" : " (" + reordered + ")",
                                number(one.alignment.different), alone_text(one));
    }
    return text;
}

/// By how much a call may come later by chance, ns: as much as an iteration may take longer, and what is no change of one.
/// Timelines have means only, so how much the begin of a call varies is not known.
double least_shift(const GroupOverTime& one) {
    double usual = 0;
    for (const AlignedPair& pair : one.pairs) usual += pair.ns_before / static_cast<double>(one.pairs.size());
    const double error = one.iterations.error / static_cast<double>(one.pairs.size());
    return std::isnan(error) ? error : std::max(error, one.least_change * usual);
}

} // namespace

std::string iterations_text(const SegmentChange& segment, const std::string& after) {
    std::string text = range_text(segment.before);
    if (segment.after.first != segment.before.first || segment.after.last != segment.before.last)
        text += fmt::format(" ({} of {})", range_text(segment.after), after);
    return text;
}

std::string segment_chance(const SegmentChange& segment) {
    if (segment.is_change) return "";
    if (std::isnan(segment.each.error)) return "not known";
    if (segment.is_disturbance) return "machine";
    return segment.each.is_chance() ? "within chance" : "small";
}

OverTimeWords words_of(const RunsOverTime& result, const GroupOverTime& one, const std::vector<ProfiledGroup>& groups, std::size_t lines) {
    const std::string &before = groups.front().name, &after = groups[one.group].name;
    const Change& whole = one.iterations;
    const Amounts amounts(std::max(whole.before, whole.after), "ns");
    OverTimeWords words;
    const std::size_t runs_before = groups.front().runs.size(), runs_after = groups[one.group].runs.size();
    const std::string runs = repetitions_text(before, runs_before, after, runs_after);
    const std::string values = fmt::format("{}, {} {} ({})", amounts.text(whole.after), before, amounts.text(whole.before), runs);
    const bool has_others = one.alone_before != 0 || one.alone_after != 0;
    const std::string which = fmt::format("the iterations of {}{}", result.phase, has_others ? " that both have" : "");
    words.head = whole.difference() == 0 ? fmt::format("{} and {} take the same time in {}: {}", after, before, which, values)
                 : whole.is_chance()     ? fmt::format("{} and {} do not differ beyond chance in {} as a whole: {}", after, before, which, values)
                                         : fmt::format("{} is {} in {}: {}", after, by_text(whole), which, values);
    words.head = printable(words.head);
    for (const SegmentChange& segment : one.segments)
        if (segment.is_change) words.segments.push_back(words_of(segment, before, after, lines == 0 ? usual_lines : lines));
    words.calls = changed_calls_text(one.calls, one.pairs.size(), before, after, lines == 0 ? usual_lines : lines);
    for (std::string& sentence : typical_events_text(one.typical, least_shift(one), before)) words.calls.push_back(std::move(sentence));
    const auto not_told = std::count_if(one.segments.begin(), one.segments.end(), [](const SegmentChange& s) { return s.is_disturbance; });
    if (one.pairs.size() == 1)
        words.remarks.emplace_back("one iteration does not tell what is chance");
    else if (words.segments.empty() && not_told == 0)
        words.remarks.push_back(fmt::format("no iterations differ beyond chance and by more than {}", percent(one.least_change)));
    if (one.alone_before != 0 || one.alone_after != 0) {
        std::string alone;
        if (one.alone_after != 0)
            alone = fmt::format("{} of {} {} no partner: {}", number_of_iterations(one.alone_after), after, one.alone_after == 1 ? "has" : "have",
                                amounts.text(one.alone.after));
        if (one.alone_before != 0)
            alone += fmt::format("{}{} of {} {} no partner: {}", alone.empty() ? "" : "; ", number_of_iterations(one.alone_before), before,
                                 one.alone_before == 1 ? "has" : "have", amounts.text(one.alone.before));
        words.remarks.push_back(alone);
    }
    if (std::abs(one.outside.difference()) >= worth_telling * std::max(whole.before, whole.after))
        words.remarks.push_back(fmt::format("outside the iterations: {} ({}, {} {})", amounts.difference(one.outside.difference()),
                                            amounts.text(one.outside.after), before, amounts.text(one.outside.before)));
    words.remarks.push_back(alignment_text(one, before, after));
    if (one.alignment.is_known && one.alignment.different == one.alignment.pairs && !(share_alone(one) < unlike))
        words.remarks.push_back(
            fmt::format("no iteration makes the same calls in {} and {}, so it is not sure which are the same; are they runs of one program?", before, after));
    if (not_told != 0)
        words.remarks.push_back(
            fmt::format("{} not told: neither other calls nor single functions surely have a quarter of it, and it does not last to the end; a slower "
                        "processor makes such, and so do other programs on the machine",
                        not_told == 1 ? "1 change is" : fmt::format("{} changes are", not_told)));
    if (runs_before == 1 && runs_after == 1)
        words.remarks.emplace_back("how much runs vary by chance is not known from one run each; repeat them: --baseline A1 A2 A3 -- B1 B2 B3");
    for (std::string& remark : words.remarks) remark = printable(remark);
    return words;
}

} // namespace libprofile::tools
