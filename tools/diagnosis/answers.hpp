// What users ask first (tools/analysis/findings.hpp), and what could be saved.
// Contract: as diagnosis.hpp.
#pragma once

#include "tools/analysis/findings.hpp"
#include "tools/diagnosis/diagnosis.hpp"

namespace libprofile::tools {

/// "up to 6.1 % of the run could be saved (9.3 s of 152 s)".
std::string saving_sentence(const DiagnosedRun& run);

/// All findings; the weightiest causes stand before what libprofile cost.
/// @param found what trends() gives
/// @param run what diagnose() gives, of a caller that has it
std::vector<Finding> answers(const Profile& profile, const std::vector<const Location*>& locations, const std::vector<Trend>& found,
                             const DiagnosedRun* run = nullptr);

} // namespace libprofile::tools
