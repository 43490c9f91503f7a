#include "tools/diagnosis/pursuit.hpp"

#include "tools/diagnosis/common_suspects.hpp"
#include "tools/diagnosis/rank_suspects.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace libprofile::tools {

namespace {

/// Two suspects may hide each other: without one of them the other still makes ranks wait. Then the run gains something without both only.
std::size_t hidden(const RunModel& model, const std::vector<Suspect>& suspects, double least_sum) {
    constexpr std::size_t most = 6; // of which pairs are tried
    const std::size_t n = std::min(most, suspects.size());
    double best = least_sum;
    std::size_t found = suspects.size();
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = a + 1; b < n; ++b) {
            std::vector<RankExcess> both = suspects[a].parts;
            for (const RankExcess& part : suspects[b].parts) {
                const auto at = std::find_if(both.begin(), both.end(), [&](const RankExcess& one) { return one.rank == part.rank; });
                if (at == both.end()) {
                    both.push_back(part);
                    continue;
                }
                for (std::size_t i = 0; i < part.ns.size(); ++i) at->ns[i] += part.ns[i];
            }
            if (const double gain = model.gain_without(both).value; gain > best)
                best = gain, found = suspects[a].pattern.sum >= suspects[b].pattern.sum ? a : b;
        }
    return found;
}

/// Without one cause the run gains one thing if the others are still there, and another if they are not: the mean of both, and the range.
/// Source: L. S. Shapley, "A value for n-person games" (1953), of the first and the last order.
void weigh(const IterationMatrix& matrix, std::vector<Suspect>& found) {
    if (found.size() < 2) return;
    const RunModel whole(matrix);
    for (Suspect& suspect : found) {
        const Gain first = whole.gain_without(suspect.parts);
        RunModel last = whole;
        for (const Suspect& other : found)
            if (&other != &suspect) last.remove(other.parts);
        const Gain then = last.gain_without(suspect.parts);
        const double low = suspect.gain.low;
        suspect.gain = {(first.value + then.value) / 2, std::min(first.low, then.low), std::max(first.high, then.high)};
        suspect.gain.low = std::min(suspect.gain.low, low);
    }
}

/// The mean of the largest of n values of a normal distribution, in deviations.
/// Source: G. Blom, "Statistical Estimates and Transformed Beta-Variables" (1958): the quantile at (n - 3/8) / (n + 1/4).
double largest_of(double n) {
    if (n < 1.5) return 0;
    const double tail = 1 - (n - 0.375) / (n + 0.25), t = std::sqrt(-2 * std::log(tail));
    return t - (2.30753 + 0.27061 * t) / (1 + 0.99229 * t + 0.04481 * t * t); // Hastings, "Approximations for Digital Computers" (1955)
}

/// Without their excess ranks keep their jitter, of which each iteration has the largest. What was taken away of ranks in turn had it, too.
void leave_jitter(const RunModel& whole, std::vector<Suspect>& found) {
    for (Suspect& suspect : found) {
        if (suspect.kind != SuspectKind::MovingRank) continue;
        double cells = 0, iterations = 0;
        for (const RankExcess& part : suspect.parts) cells += static_cast<double>(std::count_if(part.ns.begin(), part.ns.end(), [](float x) { return x > 0; }));
        for (const float x : suspect.pattern.excess) iterations += x > 0 ? 1 : 0;
        if (iterations == 0) continue;
        const double all = static_cast<double>(whole.ranks()), others = std::max(1.0, all - cells / iterations);
        const double jitter = iterations * whole.jitter() * (largest_of(all) - largest_of(others));
        for (double* ns : {&suspect.gain.value, &suspect.gain.low, &suspect.gain.high}) *ns = std::max(0.0, *ns - jitter);
    }
}

} // namespace

std::vector<Suspect> find_suspects(const IterationMatrix& matrix, double least_sum) {
    constexpr int most_rounds = 16;
    std::vector<Suspect> found;
    RunModel model(matrix);
    for (int round = 0; round < most_rounds; ++round) {
        std::vector<Suspect> suspects = rank_suspects(model, least_sum);
        if (std::optional<Suspect> common = common_suspect(model, least_sum)) suspects.push_back(std::move(*common));
        std::stable_sort(suspects.begin(), suspects.end(), [](const Suspect& a, const Suspect& b) { return a.gain.value > b.gain.value; });
        if (suspects.empty()) break;
        const std::size_t best = suspects[0].gain.value >= least_sum ? 0 : hidden(model, suspects, least_sum);
        if (best == suspects.size()) break;
        model.remove(suspects[best].parts);
        found.push_back(std::move(suspects[best]));
    }
    weigh(matrix, found);
    leave_jitter(model, found);
    std::erase_if(found, [&](const Suspect& suspect) { return suspect.gain.value < least_sum; });
    for (Suspect& suspect : communication_suspects(matrix, model, least_sum)) found.push_back(std::move(suspect));
    return found;
}

} // namespace libprofile::tools
