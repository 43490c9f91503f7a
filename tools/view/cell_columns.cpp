#include "tools/view/cell_columns.hpp"

#include <algorithm>
#include <bit>

namespace libprofile::tools {

namespace {
constexpr int kept_bits = 12;
}

void CellColumns::add(const std::vector<Cell>& cells) {
    for (const Cell& cell : cells) {
        const std::uint64_t key = std::uint64_t{tables_.node_of_path[cell.path]} * tables_.columns + tables_.column_of_metric[cell.metric];
        if (key >= sums_.size()) sums_.resize(key + 1);
        if (sums_[key] == 0 && cell.value != 0) touched_.push_back(key);
        sums_[key] += cell.value;
    }
}

void CellColumns::end() {
    std::sort(touched_.begin(), touched_.end());
    counts_.add(touched_.size());
    std::uint64_t before = 0;
    for (const std::uint64_t key : touched_) {
        keys_.add(key - before);
        before = key;
        std::uint64_t value = sums_[key];
        sums_[key] = 0;
        int exponent = 0;
        if (const int bits = static_cast<int>(std::bit_width(value)); rounded_ && bits > kept_bits) {
            exponent = bits - kept_bits;
            // Half a unit up, but not over the end of the 64 bits.
            const std::uint64_t half = std::uint64_t{1} << (exponent - 1);
            value = (value > ~std::uint64_t{0} - half ? value : value + half) >> exponent;
        }
        mantissas_.add(value);
        exponents_.add(static_cast<std::uint64_t>(exponent));
    }
    touched_.clear();
}

} // namespace libprofile::tools
