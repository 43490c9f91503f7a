#include "tools/structure/sampled_difference.hpp"

#include "libprofile/base/hashing.hpp"
#include "tools/structure/tree_alignment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

namespace libprofile::tools {

namespace {

constexpr std::size_t cells = std::size_t{1} << 22; // of an alignment: there are many of them
constexpr double deviations = 4, least_share = 0.01, least_samples = 10;

/// Topmost nodes without a partner.
struct Piece {
    std::uint64_t key = 0;
    std::uint32_t path = 0;
    double share = 0; // of the samples of its tree
};

struct Pieces {
    std::vector<Piece> pieces;
    double share = 0, squares = 0;
};

/// All pieces with the key that has most.
struct LargestKey {
    std::uint32_t path = 0;
    double share = 0, squares = 0;

    explicit LargestKey(const std::vector<Piece>& pieces) {
        std::unordered_map<std::uint64_t, LargestKey> by_key;
        for (const Piece& piece : pieces) {
            LargestKey& sum = by_key[piece.key];
            sum.share += piece.share;
            sum.squares += piece.share * piece.share;
            if (sum.path == 0) sum.path = piece.path;
            if (sum.share > share) *this = sum;
        }
    }
    LargestKey() = default;
};

Pieces pieces_of(const OrderedTree& tree, const std::vector<std::uint32_t>& partner) {
    Pieces result;
    for (std::uint32_t node = 0; node < tree.nodes.size(); node = partner[node] != no_partner ? node + 1 : tree.nodes[node].end) {
        if (partner[node] != no_partner) continue;
        const double share = static_cast<double>(tree.nodes[node].events) / static_cast<double>(tree.nodes[0].events);
        result.pieces.push_back({tree.nodes[node].key, tree.nodes[node].path, share});
        result.share += share;
        result.squares += share * share;
    }
    return result;
}

/// Neither is empty.
std::array<Pieces, 2> unmatched(const SampledTree& a, const SampledTree& b, std::span<const std::uint64_t> key_of_path) {
    const auto [tree_a, tree_b] = in_order(a, b, key_of_path);
    TreeAligner aligner(tree_a, tree_b, cells);
    aligner.pair(0, 0);
    return {pieces_of(tree_a, aligner.partners(0)), pieces_of(tree_b, aligner.partners(1))};
}

std::vector<std::uint32_t> thinned(std::span<const std::uint32_t> sightings) {
    const std::size_t stride = (sightings.size() + most_samples - 1) / most_samples;
    std::vector<std::uint32_t> kept;
    for (std::size_t s = 0; s < sightings.size(); s += stride) kept.push_back(sightings[s]);
    return kept;
}

/// One of each pair of neighbours.
std::array<std::vector<std::uint32_t>, 2> halves(std::span<const std::uint32_t> sightings, std::size_t split) {
    std::array<std::vector<std::uint32_t>, 2> result;
    for (std::size_t s = 0; s + 1 < sightings.size(); s += 2) {
        const std::size_t first = split == 0 ? 0 : mix(s + golden * split) >> 63;
        result[first].push_back(sightings[s]);
        result[1 - first].push_back(sightings[s + 1]);
    }
    return result;
}

UnmatchedSamples judged(const SampledProcess& mine, const Pieces& found, const SampledProcess& other, std::span<const std::uint64_t> key_of_path) {
    UnmatchedSamples result;
    result.share = found.share;
    result.chance = std::max(mine.chance, other.chance);
    const double samples = static_cast<double>(mine.tree.samples());
    const auto is_beyond = [&](double share, double chance, double variance) {
        return share - chance >= std::max({least_share, least_samples / samples, deviations * std::sqrt(variance)});
    };
    const LargestKey largest(found.pieces);
    result.path = largest.path;
    result.of_path = largest.share;
    result.chance_of_path = std::max(mine.chance_of_one, other.chance_of_one);
    if (std::min(mine.tree.samples(), other.tree.samples()) >= fewest_samples) {
        result.is_told_in_all = is_beyond(result.share, result.chance, std::max(mine.chance_variance, other.chance_variance));
        result.is_told =
            result.is_told_in_all || is_beyond(result.of_path, result.chance_of_path, std::max(mine.chance_of_one_variance, other.chance_of_one_variance));
    }
    result.is_elsewhere = result.of_path != 0 && std::any_of(other.tree.nodes.begin(), other.tree.nodes.end(),
                                                             [&](const SampledNode& node) { return key_of_path[node.path] == key_of_path[result.path]; });
    return result;
}

} // namespace

SampledProcess sampled_process(std::span<const std::uint32_t> sightings, std::span<const std::uint32_t> parent_of_path,
                               std::span<const std::uint64_t> key_of_path) {
    SampledProcess result;
    result.samples = sightings.size();
    const std::vector<std::uint32_t> kept = thinned(sightings);
    result.tree = sampled_tree(kept, parent_of_path);
    if (kept.size() < fewest_samples) return result;
    for (std::size_t split = 0; split < splits; ++split) {
        const auto [one, other] = halves(kept, split);
        for (const Pieces& half : unmatched(sampled_tree(one, parent_of_path), sampled_tree(other, parent_of_path), key_of_path)) {
            result.chance = std::max(result.chance, half.share);
            result.chance_variance = std::max(result.chance_variance, half.squares);
            const LargestKey largest(half.pieces);
            result.chance_of_one = std::max(result.chance_of_one, largest.share);
            result.chance_of_one_variance = std::max(result.chance_of_one_variance, largest.squares);
        }
    }
    return result;
}

SampledDifference sampled_difference(const SampledProcess& a, const SampledProcess& b, std::span<const std::uint64_t> key_of_path) {
    if (a.tree.samples() == 0 || b.tree.samples() == 0) return {};
    const auto [of_a, of_b] = unmatched(a.tree, b.tree, key_of_path);
    return {judged(a, of_a, b, key_of_path), judged(b, of_b, a, key_of_path)};
}

} // namespace libprofile::tools
