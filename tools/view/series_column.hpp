// Numbers as differences, as the page reads a series (viewer/src/columns.ts: seriesOf()).
// Contract: one thread; allocates in proportion to the numbers; throws std::bad_alloc only.
#pragma once

#include "tools/view/encoding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace libprofile::tools {

class SeriesColumn {
  public:
    /// Rounded to a whole number; NaN becomes 0.
    void add(double value) {
        constexpr double most = 0x1p53;
        const auto whole = static_cast<std::int64_t>(std::isnan(value) ? 0 : std::llround(std::clamp(value, -most, most)));
        column_.add_signed(whole - before_);
        before_ = whole;
    }
    const NumberColumn& column() const { return column_; }

  private:
    NumberColumn column_;
    std::int64_t before_ = 0;
};

} // namespace libprofile::tools
