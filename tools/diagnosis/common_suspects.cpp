#include "tools/diagnosis/common_suspects.hpp"

#include <algorithm>
#include <numeric>

namespace libprofile::tools {

namespace {

/// The pattern above a low level of the series.
ExcessPattern pattern_above_low(std::vector<float> series, double typical, double least_sum) {
    std::vector<float> order = series;
    const auto tenth = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 10);
    std::nth_element(order.begin(), tenth, order.end());
    const float low = *tenth;
    for (float& value : series) value -= low;
    PatternSearch search{typical, least_sum};
    search.may_be_steady = false;
    search.most_of_run = 0.7;   // of what is so most of the time, nobody knows that it could be otherwise
    search.least_change = 0.03; // processors and networks are a few percent faster now and then
    return find_pattern(series, search);
}

constexpr std::size_t fewest = 10; // iterations: fewer say nothing about time

} // namespace

std::optional<Suspect> common_suspect(const RunModel& model, double least_sum) {
    if (model.iterations() < fewest || model.ranks() == 0) return std::nullopt;
    Suspect suspect{SuspectKind::AllRanks, pattern_above_low(model.base(), model.typical(), least_sum), {}, {}, {}};
    if (suspect.pattern.is_empty()) return std::nullopt;
    for (std::size_t r = 0; r < model.ranks(); ++r) suspect.parts.push_back({r, suspect.pattern.excess});
    suspect.rows.resize(model.ranks());
    std::iota(suspect.rows.begin(), suspect.rows.end(), std::size_t{0});
    suspect.gain = model.gain_without(suspect.parts);
    return suspect.gain.value < least_sum ? std::nullopt : std::optional(std::move(suspect));
}

std::vector<Suspect> communication_suspects(const IterationMatrix& matrix, const RunModel& model, double least_sum) {
    std::vector<Suspect> list;
    if (matrix.iterations() < fewest || matrix.ranks() < 2) return list;
    std::vector<float> least(matrix.iterations());
    for (std::size_t i = 0; i < least.size(); ++i) {
        least[i] = matrix.at(IterationPart::Mpi, 0, i);
        for (std::size_t r = 1; r < matrix.ranks(); ++r) least[i] = std::min(least[i], matrix.at(IterationPart::Mpi, r, i));
    }
    constexpr std::size_t most = 3;
    while (list.size() < most) {
        Suspect suspect{SuspectKind::Communication, pattern_above_low(least, model.typical(), least_sum), {}, {}, {}};
        if (suspect.pattern.is_empty()) break;
        for (std::size_t i = 0; i < least.size(); ++i) least[i] -= suspect.pattern.excess[i];
        suspect.rows.resize(matrix.ranks());
        std::iota(suspect.rows.begin(), suspect.rows.end(), std::size_t{0});
        suspect.gain = {suspect.pattern.sum, suspect.pattern.sum, suspect.pattern.sum};
        list.push_back(std::move(suspect));
    }
    return list;
}

} // namespace libprofile::tools
