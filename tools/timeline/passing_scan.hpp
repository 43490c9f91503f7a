// What of a part of the timeline passes a filter, piece by piece, of events that were left in their files: all of them are looked at, which takes its time, so
// it goes on step by step.
// Contract: one thread, which starts others; keeps references; memory in proportion to a step; throws ReadError where files are damaged, std::bad_alloc, and
// what its receiver throws.
#pragma once

#include "tools/timeline/passing_calls.hpp"
#include "tools/timeline/selected_times.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace libprofile::tools {

/// A stretch of a row's time.
struct PassingPiece {
    std::uint64_t begin_ns = 0, end_ns = 0;
    std::uint64_t call_ns = 0; // the whole call; 0: it is in none, or in a task
    std::uint32_t kind = 0;    // its state; of tasks their class, 0 where it is in none
};

class PassingScan {
  public:
    using Receiver = std::function<void(std::uint32_t location, const PassingPiece& piece)>;

    /// @param times of the rows that are wanted; @param classes of tasks, by location; null: pieces have states
    PassingScan(const IndexedRows& rows, const PassingCalls& passing, SelectedTimes times, const std::vector<TaskClasses>* classes);

    /// Looks on: about so long, one step at least. Calls receive(location, piece), from one thread at a time.
    void go_on(std::chrono::milliseconds time, const Receiver& receive);
    bool is_done() const { return next_unit_ == units_.size(); }
    double share() const { return units_.empty() ? 1 : static_cast<double>(next_unit_) / static_cast<double>(units_.size()); }

  private:
    struct Unit {
        std::uint32_t location = 0, group = 0;
    };
    std::vector<PassingPiece> pieces_of(const Unit& unit) const;
    void add_pieces(std::uint32_t location, std::uint64_t from, std::uint64_t to, std::vector<PassingPiece>& out) const;

    const IndexedRows& rows_;
    const PassingCalls& passing_;
    const SelectedTimes times_;
    const std::vector<TaskClasses>* classes_;
    std::vector<Unit> units_;
    std::size_t next_unit_ = 0;
};

} // namespace libprofile::tools
