#include "tools/view/skew_entry.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

constexpr double shares = 10'000; // to one

/// 0: not known.
std::uint64_t share_code(double share) { return std::isnan(share) ? 0 : static_cast<std::uint64_t>(std::llround(share * shares)) + 1; }

} // namespace

nlohmann::ordered_json skew_entry(const ComparedProcesses& p, std::size_t window, Sections& sections) {
    const RankTimelines& t = p.timelines;
    if (t.behind.empty()) return nullptr;
    NumberColumn values;
    const auto rank = [&](std::uint32_t row) { return std::uint64_t{p.states.locations[row]->rank}; };
    for (std::size_t from = 0; from < t.behind.size(); from += window) {
        const std::size_t to = std::min(from + window, t.behind.size());
        std::size_t behind = from, ahead = from, different = from;
        double sum = 0, known = 0;
        for (std::size_t i = from; i < to; ++i) {
            if (t.behind[i] > t.behind[behind]) behind = i;
            if (t.ahead[i] < t.ahead[ahead]) ahead = i;
            if (t.most_dissimilarity[i] > t.most_dissimilarity[different]) different = i;
            if (std::isnan(t.mean_dissimilarity[i])) continue;
            sum += t.mean_dissimilarity[i];
            ++known;
        }
        values.add(static_cast<std::uint64_t>(std::llround(t.behind[behind])));
        values.add(rank(t.most_behind[behind]));
        values.add(static_cast<std::uint64_t>(std::llround(-t.ahead[ahead])));
        values.add(rank(t.most_ahead[ahead]));
        values.add(share_code(known == 0 ? std::nan("") : sum / known));
        values.add(share_code(t.most_dissimilarity[different]));
        values.add(rank(t.most_dissimilar[different]));
    }
    return {{"reference", rank(t.reference)}, {"points", (t.behind.size() + window - 1) / window}, {"shares", shares}, {"values", sections.add(values)}};
}

} // namespace libprofile::tools
