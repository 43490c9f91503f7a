#include "tools/comparison/sequence_pairs.hpp"

#include "tools/analysis/totals.hpp"
#include "tools/processes/typical_iteration.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace libprofile::tools {

namespace {

/// Nothing: not all of its calls are known, or they are too many.
std::optional<OrderedTree> tree_of(const OrderedRun& run, const EventSequence& sequence, const CommonPaths& paths, std::size_t side) {
    if (!sequence.has_timeline || sequence.is_too_long) return std::nullopt;
    std::vector<TypicalCall> calls = typical_calls(*run.profile, sequence);
    for (TypicalCall& call : calls) call.path = paths.of(side)[call.path];
    return ordered_tree(events_of(calls), paths.parents(), paths.keys());
}

/// The sequences of a rank whose calls are known, and the hashes of their trees.
class RankSequences {
  public:
    struct Known {
        const EventSequence* sequence = nullptr;
        std::uint64_t hash = 0;
    };

    RankSequences(const OrderedRun& run, const PhaseData& data, const CommonPaths& paths, std::size_t side)
        : run_(run), data_(data), paths_(paths), side_(side) {}

    /// Of an iteration; null: it is not known.
    const Known* of(std::uint64_t iteration) {
        const auto number = data_.sequences ? data_.sequences->of_iteration(iteration) : std::nullopt;
        if (!number || *number >= data_.sequences->sequences.size()) return nullptr;
        const auto [known, is_new] = known_.try_emplace(*number);
        if (is_new) {
            const EventSequence& sequence = data_.sequences->sequences[*number];
            if (const auto tree = tree_of(run_, sequence, paths_, side_)) known->second = {&sequence, tree->nodes.front().hash};
        }
        return known->second.sequence != nullptr ? &known->second : nullptr;
    }

  private:
    const OrderedRun& run_;
    const PhaseData& data_;
    const CommonPaths& paths_;
    std::size_t side_;
    std::unordered_map<std::uint32_t, Known> known_; // by position; elements stay where they are
};

bool has_sequences(const OrderedRun& run) {
    return std::any_of(run.locations.begin(), run.locations.end(), [&](const Location* location) {
        const PhaseData* data = find_phase(location, run.phase);
        return data != nullptr && data->sequences && !data->sequences->sequences.empty();
    });
}

} // namespace

void pair_by_rank(OrderedRun& before, OrderedRun& after) {
    std::map<std::uint32_t, std::array<const Location*, 2>> by_rank;
    for (const std::size_t side : {0, 1})
        for (const Location* location : (side == 0 ? before : after).locations)
            if (location != nullptr) by_rank[location->rank][side] = location;
    before.locations.clear();
    after.locations.clear();
    for (const auto& [rank, pair] : by_rank) {
        before.locations.push_back(pair[0]);
        after.locations.push_back(pair[1]);
    }
}

SequencePairs pair_sequences(const OrderedRun& before, const OrderedRun& after, std::span<const AlignedPair> iterations) {
    const std::array<const Profile*, 2> profiles = {before.profile, after.profile};
    SequencePairs result{profiles, CommonPaths(profiles), {}, {has_sequences(before), has_sequences(after)}, before.locations.size(), 0};
    if (!result.has_order[0] || !result.has_order[1]) return result;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> position; // of pairs, by both hashes
    for (std::size_t place = 0; place < before.locations.size(); ++place) {
        const PhaseData *data_before = find_phase(before.locations[place], before.phase), *data_after = find_phase(after.locations[place], after.phase);
        if (data_before == nullptr || data_after == nullptr) continue;
        RankSequences of_before(before, *data_before, result.paths, 0), of_after(after, *data_after, result.paths, 1);
        std::map<std::pair<const RankSequences::Known*, const RankSequences::Known*>, std::vector<std::uint64_t>> found;
        for (const AlignedPair& one : iterations) {
            const RankSequences::Known *a = of_before.of(one.before), *b = of_after.of(one.after);
            if (a != nullptr && b != nullptr)
                found[{a, b}].push_back(one.before);
            else
                ++result.unknown;
        }
        for (auto& [sequences, numbers] : found) {
            const auto& [a, b] = sequences;
            const auto [at, is_new] = position.try_emplace({a->hash, b->hash}, result.pairs.size());
            if (is_new) result.pairs.push_back({{a->hash, b->hash}, {}, {}, {}, 0});
            SequencePair& pair = result.pairs[at->second];
            pair.iterations += numbers.size();
            pair.ranks.push_back({before.locations[place]->rank, std::move(numbers), a->sequence, b->sequence});
        }
    }
    // The map above is in the order of addresses.
    for (SequencePair& pair : result.pairs)
        std::stable_sort(pair.ranks.begin(), pair.ranks.end(), [](const PairOnRank& x, const PairOnRank& y) {
            return std::pair(x.rank, x.iterations.front()) < std::pair(y.rank, y.iterations.front());
        });
    std::sort(result.pairs.begin(), result.pairs.end(), [](const SequencePair& x, const SequencePair& y) {
        if (x.iterations != y.iterations) return x.iterations > y.iterations;
        return std::pair(x.ranks.front().rank, x.ranks.front().iterations.front()) < std::pair(y.ranks.front().rank, y.ranks.front().iterations.front());
    });
    std::size_t different = 0;
    for (SequencePair& pair : result.pairs) {
        if (&pair != &result.pairs.front() && (pair.is_equal() || different == most_different_pairs)) continue;
        different += pair.is_equal() ? 0 : 1;
        pair.before = *tree_of(before, *pair.ranks.front().before, result.paths, 0); // as for its hash
        pair.after = *tree_of(after, *pair.ranks.front().after, result.paths, 1);
    }
    return result;
}

} // namespace libprofile::tools
