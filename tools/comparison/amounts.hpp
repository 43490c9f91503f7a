// Values of runs side by side: in one unit, with as many digits as tell them apart.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include <cstddef>
#include <string>

namespace libprofile::tools {

/// How values as large as `largest` are written.
class Amounts {
  public:
    /// @param unit of a metric: "ns", "bytes", others as counts
    Amounts(double largest, const std::string& unit);

    /// "134.0 s".
    std::string text(double value) const;
    /// "+9.8 s", "-0.6 s".
    std::string difference(double value) const;

  private:
    double divisor_ = 1;
    int decimals_ = 0;
    std::string suffix_;
};

/// "one", "two" ... "ten", "11".
std::string number_word(std::size_t n);

} // namespace libprofile::tools
