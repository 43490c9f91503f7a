#include "tools/analysis/kinds.hpp"
#include "tools/names/labels.hpp"
#include "tools/report/sections.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_kinds = 8;
constexpr std::size_t most_sequences = 8;
constexpr std::size_t longest_period = 8; // runs that repeat together

std::string times(std::uint64_t count, const TextStyle& style) { return count == 1 ? std::string() : fmt::format("{}{}", style.unicode ? "×" : "x", count); }

std::string shown(const KindRun& run, const TextStyle& style) { return kind_letters(run.kind) + times(run.length, style); }

/// How often the `period` runs from `at` on follow each other.
std::size_t repetitions(const std::vector<KindRun>& runs, std::size_t at, std::size_t period) {
    std::size_t count = 1;
    while (at + (count + 1) * period <= runs.size() &&
           std::equal(runs.begin() + static_cast<std::ptrdiff_t>(at), runs.begin() + static_cast<std::ptrdiff_t>(at + period),
                      runs.begin() + static_cast<std::ptrdiff_t>(at + count * period)))
        ++count;
    return count;
}

/// "A×2 B A", "(A×29 B)×10": not longer than `room`, but for an ellipsis.
std::string sequence_text(const std::vector<KindRun>& runs, std::size_t room, const TextStyle& style) {
    std::string out;
    for (std::size_t at = 0; at < runs.size();) {
        std::size_t best = 1, best_count = 1;
        for (std::size_t period = 2; period <= longest_period; ++period)
            if (const std::size_t n = repetitions(runs, at, period); n > 1 && n * period > best * best_count) best = period, best_count = n;
        std::string part;
        for (std::size_t i = 0; i < best; ++i) part += (i == 0 ? "" : " ") + shown(runs[at + i], style);
        if (best_count > 1) part = "(" + part + ")" + times(best_count, style);
        if (out.size() + part.size() + 5 > room) return out + (out.empty() ? "" : " ") + "...";
        out += (out.empty() ? "" : " ") + part;
        at += best * best_count;
    }
    return out;
}

/// "0-3, 7"
std::string list_of(const std::vector<std::uint32_t>& numbers, std::size_t room) {
    std::string out;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        const std::string part = last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
        if (out.size() + part.size() + 5 > room) return out + ", ...";
        out += (out.empty() ? "" : ", ") + part;
        i = last + 1;
    }
    return out;
}

/// How far the mean may be from single iterations.
std::string spread_words(const KindOfIteration& kind, const TextStyle& style) {
    return kind.iterations < 2 ? "" : fmt::format(" ({} .. {})", duration(kind.times.low, style), duration(kind.times.high, style));
}

} // namespace

void append_kinds(const ReportContext& context, std::uint32_t phase, const KindsOfPhase& found, TextWriter& to) {
    std::size_t ranks = 0;
    for (const KindSequence& sequence : found.sequences) ranks += sequence.locations.size();
    if (ranks < 2) return;
    const TextStyle& style = to.style();
    to.heading(fmt::format("Ranks in \"{}\"", printable(context.profile.phases[phase].name)),
               "kinds of iteration by what a rank does, not by how long it waits: mean time (5 to 95 % of them), computing");
    for (std::size_t k = 0; k < std::min(found.kinds.size(), most_kinds); ++k) {
        const KindOfIteration& kind = found.kinds[k];
        to.line(fmt::format("  {:>5} {} {}{}, {}", kind_letters(static_cast<std::uint32_t>(k)), right(style, plural(kind.iterations, "iteration"), 18),
                            right(style, duration(kind.mean_time, style), 10), spread_words(kind, style),
                            kind.compute ? duration(*kind.compute, style) + " computing" : "computing not known"));
    }
    if (found.kinds.size() > most_kinds) to.dim(fmt::format("  {:>5} {} more kinds", "...", found.kinds.size() - most_kinds));
    for (std::size_t s = 0; s < std::min(found.sequences.size(), most_sequences); ++s) {
        const KindSequence& sequence = found.sequences[s];
        const std::size_t n = sequence.locations.size();
        const std::string who =
            n == context.locations.size() ? fmt::format("all {} ranks", n) : fmt::format("{} {}", n == 1 ? "rank" : "ranks", list_of(sequence.locations, 22));
        const std::string label = fmt::format("  {} ", left(style, who + ":", 29));
        to.line(label + sequence_text(sequence.runs, to.width() - 32, style));
    }
    if (found.sequences.size() > most_sequences) to.dim(fmt::format("  {} more sequences", found.sequences.size() - most_sequences));
}

} // namespace libprofile::tools
