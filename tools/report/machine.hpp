// `libprofile report --machine`: the machines of a job as hwloc saw them, and where its ranks were last seen.
// Contract: thread-safe (no state); allocates; throws SelectionError if the profile has no machine, std::bad_alloc. All text of the profile is made printable.
#pragma once

#include "tools/report/choice.hpp"
#include "tools/report/document.hpp"

namespace libprofile::tools {

ReportDocument machine_report(const Profile& profile, const ReportChoice& choice, const SelectionForm& form);

/// The same as a picture.
std::string machine_svg(const Profile& profile);

} // namespace libprofile::tools
