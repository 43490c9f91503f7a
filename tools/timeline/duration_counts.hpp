// Many durations, added one by one: how many, their sum, the least, the longest, the median and a histogram.
// Contract: one thread; 4 MiB at most, however many are added, and nearly nothing before the first; throws std::bad_alloc only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace libprofile::tools {

class DurationCounts {
  public:
    static constexpr std::size_t most_exact = std::size_t{1} << 18;
    /// Of a median that is not exact: as a share of it. Bins are 1/2048 of what they begin with, and it is in the middle of one.
    static constexpr double most_error = 1.0 / 4096;

    void add(std::uint64_t ns);

    std::uint64_t count() const { return count_; }
    std::uint64_t total() const { return total_; }
    std::uint64_t least() const { return least_; }
    std::uint64_t most() const { return most_; }

    struct Median {
        std::uint64_t ns = 0; // the upper one
        bool is_exact = true; // it is of up to most_exact durations, and of more if it is below 4096 ns
    };
    Median median() const;

    /// Five bins from 1 to 10: by floor(5 log10(ns)) how many; what takes no time is in the first one. viewer/src/events/statistics.ts has the same bins.
    std::map<int, std::uint64_t> histogram() const;

  private:
    void to_bins();

    std::uint64_t count_ = 0, total_ = 0, least_ = ~std::uint64_t{0}, most_ = 0;
    std::vector<std::uint64_t> list_;   // as long as there are few; then empty
    std::vector<std::uint64_t> fine_;   // bins of the leading 12 bits; then these
    std::vector<std::uint64_t> coarse_; // the bins of the histogram
};

} // namespace libprofile::tools
