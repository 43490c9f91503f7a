// The report of a part of a profile, and of two parts against each other.
// Contract: thread-safe (no state); allocates; throws SelectionError if nothing was measured in the chosen part, std::bad_alloc.
#pragma once

#include "tools/report/choice.hpp"
#include "tools/report/document.hpp"

namespace libprofile::tools {

/// Totals, functions, ranks and call paths of the chosen part; or its functions with their callers, or the lines of one function.
ReportDocument selection_report(const Profile& profile, const ReportChoice& choice, const SelectionForm& form);

/// The two sides of the choice's comparison: per iteration and rank, or per rank; functions and call paths by difference.
ReportDocument comparison_report(const Profile& profile, const ReportChoice& choice, const SelectionForm& form);

} // namespace libprofile::tools
