// The strip of ranks over time, for the page: spans by context at some points in time, the contexts and which of them are significant.
// Contract: thread-safe (no state); uses several threads inside; allocates its result; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/clock_axis.hpp"
#include "tools/view/page_tables.hpp"
#include "tools/view/sections.hpp"

#include <nlohmann/json.hpp>

namespace libprofile::tools {

/// Points of a row: bounded in all, so that the page is.
std::uint32_t strip_points(std::size_t ranks);

/// Null if there is no trace.
nlohmann::ordered_json strip_entry(const Profile& profile, const ClockAxis& axis, const PageTables& tables, Sections& sections);

} // namespace libprofile::tools
