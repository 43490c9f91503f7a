// The timeline of the page: what each thread did in the kept parts of the run, event by event, and the sums of all other iterations.
// Contract: one thread; reads the profile; allocates in proportion to its events; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/clock_axis.hpp"
#include "tools/view/collective_columns.hpp"
#include "tools/view/counter_columns.hpp"
#include "tools/view/page_tables.hpp"
#include "tools/view/sections.hpp"
#include "tools/view/task_columns.hpp"
#include "tools/view/timeline_columns.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

/// Null if no events were recorded (LIBPROFILE_TRACE=events).
/// @param most_bytes of its columns in the page; parts that do not fit are left out, and a note says so
nlohmann::ordered_json timeline_entry(const Profile& profile, const ClockAxis& axis, const PageTables& tables, std::size_t most_bytes, bool served,
                                      Sections& sections);

/// The lists of an entry, and what its rows are. @param counters,tasks null: without these. @param has_all nothing was left out
nlohmann::ordered_json timeline_lists(const Profile& profile, const ClockAxis& axis, const NamedColumns& columns, const TimelineColumns& events,
                                      const CollectiveColumns& collectives, const CounterColumns* counters, const TaskColumns* tasks, bool has_all,
                                      Sections& sections);

} // namespace libprofile::tools
