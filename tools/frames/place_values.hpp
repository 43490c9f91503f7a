// The values of one metric at ranks or threads, node by node: what all analyses over places read.
// Contract: thread-safe (const); fills memory of the caller; throws std::bad_alloc, and FrameError where values cannot be read.
#pragma once

#include "tools/frames/frame.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace libprofile::tools {

/// What counts as one: a rank, whose threads are added up, or each thread.
enum class Over : std::uint8_t { Rank, Thread };

class PlaceValues {
  public:
    /// @param column of `frame`  @param inclusive with the callees
    PlaceValues(const Frame& frame, const FrameColumn& column, bool inclusive, Over over);

    std::size_t groups() const { return begin_.size() - 1; }
    std::size_t nodes() const { return frame_->nodes.size(); }
    std::uint32_t rank(std::size_t group) const { return frame_->places[begin_[group]].rank; }
    std::uint32_t thread(std::size_t group) const { return frame_->places[begin_[group]].thread; }

    /// The values of one group by node, 0 where it has none.
    /// @param present by node: 1 if the group came there, in inclusive values also to a node below
    /// @param buffer of this thread, for values that are not in memory
    void fill(std::size_t group, std::span<double> values, std::span<std::uint8_t> present, RowBuffer& buffer) const;

    /// By node: sums over all groups.
    std::vector<double> sums() const;

  private:
    const Frame* frame_;
    const FrameColumn* column_;
    bool inclusive_;
    std::vector<std::size_t> begin_; // groups + 1: their first place
};

/// Makes exclusive values by node inclusive ones.
void add_callees(const Frame& frame, std::vector<double>& values);

/// By node: the sums over all places of the metric, exclusive or with the callees.
std::vector<double> sums_over_places(const Frame& frame, std::string_view metric, bool inclusive);

} // namespace libprofile::tools
