#include "tools/timeline/duration_counts.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace libprofile::tools {

namespace {

constexpr int leading_bits = 12;

/// Of the leading bits: exact below 4096.
std::size_t fine_bin(std::uint64_t ns) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(ns)) - leading_bits);
    return static_cast<std::size_t>(shift) * (std::size_t{1} << (leading_bits - 1)) + static_cast<std::size_t>(ns >> shift);
}

/// The middle of a bin.
std::uint64_t fine_value(std::size_t bin) {
    constexpr std::size_t half = std::size_t{1} << (leading_bits - 1);
    if (bin < 2 * half) return bin;
    const std::size_t shift = bin / half - 1;
    return (static_cast<std::uint64_t>(bin - shift * half) << shift) + (std::uint64_t{1} << (shift - 1));
}

int coarse_bin(std::uint64_t ns) { return static_cast<int>(std::floor(5 * std::log10(static_cast<double>(std::max<std::uint64_t>(ns, 1))) + 1e-9)); }

/// A logarithm for each duration would take longer than to decode it: by the number of bits the bin of the least number that has them, and where bins begin.
class CoarseBins {
  public:
    CoarseBins() {
        for (std::size_t bits = 0; bits < of_bits_.size(); ++bits) of_bits_[bits] = coarse_bin(bits == 0 ? 0 : std::uint64_t{1} << (bits - 1));
        for (std::size_t bin = 0; bin < begins_.size(); ++bin) {
            std::uint64_t low = 0, high = ~std::uint64_t{0}; // the first number of the bin, or the largest of all
            while (low < high) {
                const std::uint64_t middle = low + (high - low) / 2;
                if (coarse_bin(middle) >= static_cast<int>(bin))
                    high = middle;
                else
                    low = middle + 1;
            }
            begins_[bin] = low;
        }
    }
    std::size_t operator()(std::uint64_t ns) const {
        auto bin = static_cast<std::size_t>(of_bits_[static_cast<std::size_t>(std::bit_width(ns))]);
        while (bin + 1 < begins_.size() && begins_[bin + 1] <= ns) ++bin;
        return bin;
    }

  private:
    std::array<int, 65> of_bits_ = {};
    std::array<std::uint64_t, 97> begins_ = {};
};

} // namespace

void DurationCounts::add(std::uint64_t ns) {
    static const CoarseBins coarse;
    ++count_;
    total_ += ns;
    least_ = std::min(least_, ns);
    most_ = std::max(most_, ns);
    if (coarse_.empty()) coarse_.resize(100); // 2^64 is in the 97th
    ++coarse_[coarse(ns)];
    if (fine_.empty()) {
        list_.push_back(ns);
        if (list_.size() > most_exact) to_bins();
        return;
    }
    const std::size_t bin = fine_bin(ns);
    if (bin >= fine_.size()) fine_.resize(bin + 1);
    ++fine_[bin];
}

void DurationCounts::to_bins() {
    fine_.resize(fine_bin(most_) + 1);
    for (const std::uint64_t ns : list_) ++fine_[fine_bin(ns)];
    std::vector<std::uint64_t>().swap(list_);
}

DurationCounts::Median DurationCounts::median() const {
    if (count_ == 0) return {};
    const std::uint64_t middle = count_ / 2;
    if (fine_.empty()) {
        std::vector<std::uint64_t> list = list_;
        std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(middle), list.end());
        return {list[middle], true};
    }
    std::size_t bin = 0;
    for (std::uint64_t below = fine_[0]; below <= middle; below += fine_[bin]) ++bin;
    return {std::clamp(fine_value(bin), least_, most_), bin < (std::size_t{1} << leading_bits)};
}

std::map<int, std::uint64_t> DurationCounts::histogram() const {
    std::map<int, std::uint64_t> bins;
    for (std::size_t bin = 0; bin < coarse_.size(); ++bin)
        if (coarse_[bin] != 0) bins[static_cast<int>(bin)] = coarse_[bin];
    return bins;
}

} // namespace libprofile::tools
