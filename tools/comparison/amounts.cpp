#include "tools/comparison/amounts.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace libprofile::tools {

Amounts::Amounts(double largest, const std::string& unit) {
    struct Step {
        double size;
        const char* suffix;
    };
    constexpr Step times[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}, {1, " ns"}};
    constexpr Step bytes[] = {{0x1p40, " TiB"}, {0x1p30, " GiB"}, {0x1p20, " MiB"}, {0x1p10, " KiB"}, {1, " B"}};
    constexpr Step counts[] = {{1e12, " T"}, {1e9, " G"}, {1e7, " M"}, {1, ""}};
    const auto choose = [&](const auto& steps) {
        const auto* step = std::find_if(std::begin(steps), std::end(steps), [&](const Step& s) { return std::abs(largest) >= s.size; });
        if (step == std::end(steps)) --step;
        divisor_ = step->suffix == std::string(" M") ? 1e6 : step->size;
        suffix_ = step->suffix;
    };
    if (unit == "ns")
        choose(times);
    else if (unit == "bytes")
        choose(bytes);
    else
        choose(counts);
    const double leading = std::abs(largest) / divisor_;
    decimals_ = leading >= 1000 ? 0 : leading >= 100 ? 1 : leading >= 10 ? 2 : 3; // four digits of the largest
}

std::string Amounts::text(double value) const { return fmt::format("{:.{}f}{}", value / divisor_ + 0.0, decimals_, suffix_); }

std::string Amounts::difference(double value) const { return fmt::format("{:+.{}f}{}", value / divisor_ + 0.0, decimals_, suffix_); }

std::string number_word(std::size_t n) {
    constexpr const char* words[] = {"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"};
    return n < std::size(words) ? words[n] : fmt::format("{}", n);
}

} // namespace libprofile::tools
