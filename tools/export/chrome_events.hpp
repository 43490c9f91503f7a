// The events of kept iterations (LIBPROFILE_TRACE=events) for the Trace Event Format: a slice for each call of MPI, construct of OpenMP, visit to a named
// region, stretch of a task and inner iteration, and an arrow for each message of which both ends were kept.
// Contract: constant after construction, allocates in proportion to the messages; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/clock_axis.hpp"
#include "tools/export/chosen_events.hpp"
#include "tools/export/event_names.hpp"
#include "tools/timeline/collective_operations.hpp"

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace libprofile::tools {

class ChromeEvents {
  public:
    using Json = nlohmann::ordered_json;

    /// All must outlive this. Of the chosen ranks, phase and iterations, if any are chosen.
    ChromeEvents(const Profile& profile, const TableChoice& choice, const ClockAxis& axis);

    /// The slices that add() makes of a location.
    std::uint64_t slices(const Location& location) const;
    /// What the filter left out: a sentence, or nothing.
    std::vector<std::string> remarks() const { return chosen_.remarks(); }
    /// When its first event begins, on the axis; the highest number if there is none.
    std::uint64_t first_begin(const Location& location) const;
    /// Calls `emit` for each slice and each end of an arrow. `row_of`: the row of any location. `begin`: where the picture begins, on the axis.
    void add(std::size_t location, std::uint64_t begin, const std::function<std::uint64_t(const Location&)>& row_of,
             const std::function<void(const Json&)>& emit) const;

  private:
    double microseconds(const Location& location, std::uint64_t own_ns, std::uint64_t begin) const;
    void add_collective(std::size_t location, const EventSlice& slice, Json& arguments) const;
    void add_message(std::size_t location, std::size_t message, std::uint64_t begin, std::uint64_t row, const std::function<void(const Json&)>& emit) const;

    const Profile& profile_;
    const ClockAxis& axis_;
    ChosenEvents chosen_;
    EventNames names_;
    CollectiveOperations collectives_;
};

} // namespace libprofile::tools
