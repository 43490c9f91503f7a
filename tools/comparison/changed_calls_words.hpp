// The sentences and tables of what iterations of two runs call otherwise, and when.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of profiles is made printable.
#pragma once

#include "tools/comparison/changed_calls.hpp"
#include "tools/comparison/typical_events.hpp"
#include "tools/report/document.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// "in 15 iterations (10, 20, 30, ...), MPI_Gather was added in write_output, once an iteration, on all ranks".
/// @param iterations pairs of both runs
std::string changed_call_text(const ChangedCall& call, const ChangedCalls& all, std::uint64_t iterations);

/// Those that occur most, and whether something is left out; nothing if the runs do the same.
/// @param before, after names of the runs
/// @param lines at most
std::vector<std::string> changed_calls_text(const ChangedCalls& calls, std::uint64_t iterations, const std::string& before, const std::string& after,
                                            std::size_t lines);

/// The one or two calls before which most time was added or lost in the most frequent iteration. Nothing if that is less than the least shift on some rank.
/// @param least_shift ns; what is less may be noise. NaN: all may
std::vector<std::string> typical_events_text(const TypicalEvents& typical, double least_shift, const std::string& before);

/// Without rows; `run` is the first column of each.
ReportTable changed_calls_table();
ReportTable typical_events_table();
void add_rows(const std::string& run, const ChangedCalls& calls, ReportTable& to);
void add_rows(const std::string& run, const TypicalEvents& typical, ReportTable& to);

} // namespace libprofile::tools
