// The cheapest pairing of two sequences in order, if the costs of pairs and of elements without a partner are known.
// Contract: thread-safe (no state); time and memory in proportion to the cells of the band; throws std::bad_alloc only.
//
// Source: S. B. Needleman and C. D. Wunsch, Journal of Molecular Biology 48 (1970); K.-M. Chao, W. R. Pearson and W. Miller, Computer Applications in
// the Biosciences 8 (1992), for the band.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// What comes next: a pair, or an element of one sequence.
enum class AlignmentStep : std::uint8_t { Both, OnlyA, OnlyB };

/// So many cells does a band have. @param slack by how much the numbers of partners may differ
inline std::size_t cells_of_band(std::size_t n, std::size_t m, std::size_t slack) { return (n + 1) * std::min(m + 1, 2 * slack + 1); }

/// From the first elements to the last. Of pairings that cost the same, the one that pairs late elements.
/// @param n,m elements of A and B
/// @param slack at least the difference of n and m
/// @param pair,only_a,only_b pair(i, j), only_a(i), only_b(j): costs, not negative
template <class Pair, class OnlyA, class OnlyB>
std::vector<AlignmentStep> cheapest_steps(std::size_t n, std::size_t m, std::size_t slack, Pair pair, OnlyA only_a, OnlyB only_b) {
    const auto first_of = [&](std::size_t i) { return i > slack ? i - slack : 0; };
    const auto last_of = [&](std::size_t i) { return std::min(m, i + slack); };
    std::vector<std::vector<AlignmentStep>> steps(n + 1); // by i, then j - first_of(i): the last step there
    std::vector<double> best(m + 1, INFINITY), before(m + 1, INFINITY);
    for (std::size_t i = 0; i <= n; ++i) {
        std::swap(best, before);
        for (std::size_t j = first_of(i); j <= last_of(i); ++j) {
            double least = i == 0 && j == 0 ? 0 : INFINITY;
            AlignmentStep step = AlignmentStep::Both;
            const auto offer = [&](double cost, AlignmentStep by) {
                if (cost < least) {
                    least = cost;
                    step = by;
                }
            };
            if (i > 0 && j > 0) offer(before[j - 1] + pair(i - 1, j - 1), AlignmentStep::Both);
            if (i > 0) offer(before[j] + only_a(i - 1), AlignmentStep::OnlyA);
            if (j > first_of(i)) offer(best[j - 1] + only_b(j - 1), AlignmentStep::OnlyB);
            best[j] = least;
            steps[i].push_back(step);
        }
    }
    std::vector<AlignmentStep> path;
    for (std::size_t i = n, j = m; i != 0 || j != 0;) {
        path.push_back(steps[i][j - first_of(i)]);
        if (path.back() != AlignmentStep::OnlyB) --i;
        if (path.back() != AlignmentStep::OnlyA) --j;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

} // namespace libprofile::tools
