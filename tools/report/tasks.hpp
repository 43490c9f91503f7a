// `libprofile report --tasks`: how many tasks of OpenMP could run at once, work, span, critical path, types of tasks.
// Contract: thread-safe (no state); allocates; throws SelectionError if there are no tasks or the choice does not fit, std::bad_alloc. All text of the
// profile is made printable.
#pragma once

#include "tools/report/choice.hpp"
#include "tools/report/document.hpp"

namespace libprofile::tools {

/// Tables of all ranks and stretches; depths, types and critical path of one of them, or with form.everything of all (docs/json.md).
ReportDocument task_report(const Profile& profile, const ReportChoice& choice, const SelectionForm& form);

} // namespace libprofile::tools
