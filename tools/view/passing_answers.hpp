// What of a large timeline passes a filter, for the page: pixels of a picture, and sums of a selection. Both are counted step by step (passing_scan.hpp).
// Contract: one thread, which starts others; keep references to what they are made of; memory in proportion to the answer; throw as PassingScan.
#pragma once

#include "tools/timeline/passing_scan.hpp"
#include "tools/timeline/pixel_sums.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace libprofile::tools {

/// What of a pixel passes.
struct PassingPixel {
    bool is_some = false;
    std::uint8_t kind = 0;     // with most of the time that passes: a state, or a class of tasks
    std::uint64_t longest = 0; // call; ns
};

class PassingPixels {
  public:
    struct Row {
        std::uint32_t location = 0;
        double from = 0, to = 0; // on its clock
    };
    /// @param classes of tasks, by location; null: states
    PassingPixels(const IndexedRows& rows, const PassingCalls& passing, const std::vector<Row>& wanted, std::size_t pixels,
                  const std::vector<TaskClasses>* classes);

    void go_on(std::chrono::milliseconds time);
    bool is_done() const { return scan_.is_done(); }
    double share() const { return scan_.share(); }
    /// Of a wanted row.
    std::vector<PassingPixel> pixels(std::uint32_t location) const;

  private:
    std::map<std::uint32_t, PixelSums> sums_; // by location
    PassingScan scan_;
};

class PassingSums {
  public:
    PassingSums(const IndexedRows& rows, const PassingCalls& passing, const SelectedTimes& times)
        : times_(times), sums_(times.spans.size()), scan_(rows, passing, times, nullptr) {}

    void go_on(std::chrono::milliseconds time);
    bool is_done() const { return scan_.is_done(); }
    double share() const { return scan_.share(); }
    const SelectedTimes& times() const { return times_; }
    const std::vector<TimelineSums>& sums() const { return sums_; } // by location

  private:
    const SelectedTimes times_;
    std::vector<TimelineSums> sums_;
    PassingScan scan_;
};

} // namespace libprofile::tools
