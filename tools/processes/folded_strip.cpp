#include "tools/processes/folded_strip.hpp"

#include "tools/text/named_choice.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr std::array fold_names = {"dominating", "outliers", "use"};

struct Chosen {
    std::uint16_t state = no_state;
    std::uint32_t ranks = 0;
};

/// @param count by state, how many ranks are in it
Chosen chosen_state(const std::vector<std::uint32_t>& count, FoldBy by, std::uint16_t computing) {
    if (by == FoldBy::Use && computing < count.size() && count[computing] != 0) return {computing, count[computing]};
    const auto most = std::max_element(count.begin(), count.end());
    if (most == count.end() || *most == 0) return {};
    if (by != FoldBy::Outliers) return {static_cast<std::uint16_t>(most - count.begin()), *most};
    Chosen second;
    for (std::size_t s = 0; s < count.size(); ++s)
        if (count.begin() + static_cast<std::ptrdiff_t>(s) != most && count[s] > second.ranks) second = {static_cast<std::uint16_t>(s), count[s]};
    return second;
}

} // namespace

const char* fold_name(FoldBy by) { return fold_names[static_cast<std::size_t>(by)]; }

std::optional<FoldBy> fold_named(std::string_view name) { return named_choice<FoldBy>(fold_names, name); }

std::vector<FoldedSpan> folded_strip(const RankStates& states, std::span<const std::uint32_t> rows, FoldBy by) {
    constexpr std::size_t block = 64; // iterations at a time: whole cache lines of every rank's row
    std::vector<std::vector<std::uint32_t>> counts(block, std::vector<std::uint32_t>(states.names.size()));
    std::vector<FoldedSpan> strip;
    for (std::size_t begin = 0; begin < states.iterations; begin += block) {
        const std::size_t length = std::min(block, states.iterations - begin);
        for (std::vector<std::uint32_t>& count : counts) std::fill(count.begin(), count.end(), 0);
        for (const std::uint32_t row : rows)
            for (std::size_t b = 0; b < length; ++b)
                if (const std::uint16_t state = states.state(row, begin + b); state != no_state) ++counts[b][state];
        for (std::size_t b = 0; b < length; ++b) {
            const Chosen chosen = chosen_state(counts[b], by, states.computing_state);
            if (strip.empty() || strip.back().state != chosen.state) strip.push_back({states.first + begin + b, 0, chosen.state, 0});
            ++strip.back().length;
            strip.back().ranks = std::max(strip.back().ranks, chosen.ranks);
        }
    }
    return strip;
}

std::vector<FoldedSpan> folded_strip(const RankStates& states, FoldBy by) {
    std::vector<std::uint32_t> all(states.locations.size());
    std::iota(all.begin(), all.end(), 0u);
    return folded_strip(states, all, by);
}

} // namespace libprofile::tools
