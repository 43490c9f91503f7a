// What a page that is served may ask its server for: whatever did not go into the page.
// Contract: one thread at a time; allocates in proportion to ranks times iterations; throws ViewError for what cannot be asked,
// and std::bad_alloc.
//
// An answer is JSON: "first" and "columns" (columns for the page, base64, numbered from "first" on), and what tells what they are.
#pragma once

#include "tools/analysis/selected_tree.hpp"
#include "tools/view/page_data.hpp"
#include "tools/view/page_tables.hpp"
#include "tools/view/timeline_window.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace libprofile::tools {

class PageServer {
  public:
    /// Keeps references to both.
    PageServer(const Profile& profile, const PageRequest& request);

    /// The timeline of events that were left in their files; null: there are none.
    const TimelineWindow* window() const { return window_.get(); }

    /// "timeline": a picture.
    std::string timeline(const TimelineWindow::Question& question);

    /// A selected part of the timeline: times of the axis, or an iteration.
    struct SelectedMoment {
        double from = 0, to = 0;
        std::optional<std::pair<std::uint32_t, std::uint64_t>> iteration; // phase and number
        CallFilter filter = {};
    };
    /// "sums": ns by location, then state.
    std::string timeline_sums(const SelectedMoment& selected);
    /// "totals": ns by row, interval and state.
    std::string timeline_totals(const TimelineWindow::Intervals& intervals);
    /// "values": by location, at the ends of intervals; or how far their count is.
    std::string timeline_series(const TimelineWindow::Series& asked);
    /// "messages": who sends how much to whom, or how far their count is.
    std::string timeline_messages(const SelectedMoment& selected);
    /// How long calls and tasks take, or how far their count is (durations_entry.hpp).
    std::string timeline_durations(const SelectedMoment& selected);

    /// "map": the value map of a metric that is not in the page.
    std::string map(std::uint32_t phase, const std::string& metric);

    /// "values": the values of one rank in every iteration, plus 1; 0 where there is none.
    std::string row(std::uint32_t phase, const std::string& metric, std::uint32_t rank);

    struct Selected {
        std::uint32_t phase = 0;
        std::uint64_t from = 0, to = 0; // iterations, `to` excluded
        bool rest = false;              // all others instead
        std::uint64_t first_rank = 0, end_rank = ~std::uint64_t{0};
    };
    /// "cells": a profile for each location (none for those of other ranks), out of what the profile holds of single iterations;
    /// "sampled": what samples shared out of it (SampledColumns); "iterations": how many were selected at each; "sums": whether all sums
    /// over its call paths are exact, "only_time": of these only that of the time.
    std::string profile_of(const Selected& selected);

    /// "source": the lines of a function, with their text.
    /// @param function as the page calls it
    /// @param selected of all phases if its phase is TreeChoice::all_phases; all iterations if `to` is 0; `rest`: all other ranks
    std::string source(const std::string& function, const std::string& metric, const Selected& selected);

  private:
    std::size_t iterations_of(std::uint32_t phase) const;
    TimelineWindow& asked_window();
    SelectedTimes times_of(const SelectedMoment& selected);

    const Profile& profile_;
    const PageRequest& request_;
    const PageTables tables_;
    std::unique_ptr<TimelineWindow> window_;
    std::size_t next_column_ = 1000000; // above those of any page
};

} // namespace libprofile::tools
