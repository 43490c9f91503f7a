// `libprofile report --correlations`: how the durations of MPI calls go with their bytes.
// Contract: thread-safe (no state); allocates; throws SelectionError if there are no calls with messages or the choice does not fit, std::bad_alloc. All
// text of the profile is made printable.
#pragma once

#include "tools/report/choice.hpp"
#include "tools/report/document.hpp"

namespace libprofile::tools {

ReportDocument correlation_report(const Profile& profile, const ReportChoice& choice, const SelectionForm& form);

} // namespace libprofile::tools
