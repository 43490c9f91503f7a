#include "tools/processes/sampled_words.hpp"

#include "tools/analysis/totals.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t ranks_in_text = 3;

/// "14 % of the samples of rank 3 have no partner on rank 0, where 3 % are chance; most in write_output"
std::string difference(const SampledPart& part, const std::string& here, const std::string& other) {
    const UnmatchedSamples& unmatched = part.unmatched;
    const std::string elsewhere = unmatched.is_elsewhere ? fmt::format("; {} calls it at another place or time", other) : "";
    if (!unmatched.is_told_in_all) // too much else is chance
        return fmt::format("{} of the samples of {} are in {} and have no partner on {}, where {} are chance in a function{}", percent(unmatched.of_path), here,
                           part.function, other, percent(unmatched.chance_of_path), elsewhere);
    return fmt::format("{} of the samples of {} have no partner on {}, where {} are chance; {} in {}{}", percent(unmatched.share), here, other,
                       percent(unmatched.chance), unmatched.of_path > 0.99 * unmatched.share ? "all" : "most", part.function, elsewhere);
}

std::string difference(const SampledRank& rank, const std::string& here, const std::string& reference) {
    std::string text = rank.here.unmatched.is_told ? difference(rank.here, here, reference) : "";
    if (rank.reference.unmatched.is_told) text += (text.empty() ? "" : "; ") + difference(rank.reference, reference, here);
    return text;
}

} // namespace

std::vector<std::string> sampled_sentences(const ComparedProcesses& p, const ProcessWords& say) {
    std::vector<std::string> sentences;
    if (p.typical || p.locations.size() < 2) return sentences;
    if (!p.samples.has_trace) {
        const bool was_asked = std::any_of(p.states.locations.begin(), p.states.locations.end(), [&](const Location* location) {
            const PhaseData* data = find_phase(location, p.states.phase);
            return data != nullptr && data->sequences;
        });
        if (!was_asked)
            sentences.emplace_back("in which order ranks do this was not recorded: LIBPROFILE_ORDER=1 keeps the order of calls in iterations, and "
                                   "LIBPROFILE_TRACE=1 the samples of the whole run, which tell it by chance");
        return sentences;
    }
    const SampledRanks& samples = p.samples;
    const auto name = [&](std::uint32_t row) { return say.row(*p.locations[row]); };
    std::vector<const SampledRank*> told;
    std::vector<std::uint32_t> others;
    double most = 0, chance = 0;
    for (const SampledRank& rank : samples.ranks) {
        if (rank.is_told()) {
            told.push_back(&rank);
            continue;
        }
        others.push_back(rank.row);
        most = std::max({most, rank.here.unmatched.share, rank.reference.unmatched.share});
        chance = std::max({chance, rank.here.unmatched.chance, rank.reference.unmatched.chance});
    }
    std::stable_sort(told.begin(), told.end(), [](const SampledRank* a, const SampledRank* b) { return a->excess() > b->excess(); });
    for (std::size_t t = 0; t < std::min(told.size(), ranks_in_text); ++t)
        sentences.push_back("by samples: " + difference(*told[t], name(told[t]->row), name(samples.reference)));
    if (told.size() > ranks_in_text) {
        std::vector<std::uint32_t> rows;
        for (std::size_t t = ranks_in_text; t < told.size(); ++t) rows.push_back(told[t]->row);
        std::sort(rows.begin(), rows.end());
        sentences.push_back(fmt::format("by samples: so {} {}, by less", rows.size() == 1 ? "does" : "do", say.rows(rows)));
    }
    if (!others.empty())
        sentences.push_back(fmt::format("by samples: {} {} not told from {}; {} of the samples of a rank at most have no partner, and {} may be chance",
                                        say.rows(others), others.size() == 1 ? "is" : "are", name(samples.reference), percent(most), percent(chance)));
    if (!samples.few.empty())
        sentences.push_back(
            fmt::format("by samples: nothing is known of {}, with fewer than {} samples outside of MPI", say.rows(samples.few), fewest_samples));
    if (!samples.left.empty())
        sentences.push_back(fmt::format("by samples: {} more were not compared; --rank chooses them", plural(samples.left.size(), "rank")));
    for (std::string& sentence : sentences) sentence = printable(sentence);
    return sentences;
}

ReportTable sampled_table(const ComparedProcesses& p) {
    ReportTable table{"by_samples",
                      "",
                      "",
                      {{"rank", "", ColumnUnit::Number},
                       {"against", "", ColumnUnit::Number},
                       {"samples", "", ColumnUnit::Count},
                       {"unmatched", "", ColumnUnit::Share},
                       {"chance", "", ColumnUnit::Share},
                       {"verdict", "", ColumnUnit::Text},
                       {"function", "", ColumnUnit::Text},
                       {"function_unmatched", "", ColumnUnit::Share},
                       {"function_chance", "", ColumnUnit::Share},
                       {"other_has", "", ColumnUnit::Text}},
                      {},
                      {},
                      {},
                      0,
                      ""};
    const auto add = [&](const SampledPart& part, std::uint32_t row, std::uint32_t against) {
        const UnmatchedSamples& unmatched = part.unmatched;
        const bool has_function = !part.function.empty();
        table.rows.push_back({std::uint64_t{p.locations[row]->rank}, std::uint64_t{p.locations[against]->rank}, part.samples, unmatched.share, unmatched.chance,
                              std::string(unmatched.is_told ? "difference" : "chance"), has_function ? ReportValue(printable(part.function)) : ReportValue(),
                              has_function ? ReportValue(unmatched.of_path) : ReportValue(), unmatched.chance_of_path,
                              has_function ? ReportValue(std::string(unmatched.is_elsewhere ? "elsewhere" : "nowhere")) : ReportValue()});
    };
    for (const SampledRank& rank : p.samples.ranks) {
        add(rank.here, rank.row, p.samples.reference);
        add(rank.reference, p.samples.reference, rank.row);
    }
    return table;
}

} // namespace libprofile::tools
