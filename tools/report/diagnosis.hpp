// What `libprofile diagnose` prints: causes of lost time, the weightiest first.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/diagnosis.hpp"
#include "tools/report/document.hpp"
#include "tools/report/trace.hpp"

#include <string>

namespace libprofile::tools {

/// "saves 5.9 s (5.2 s .. 6.4 s), confidence medium".
std::string gain_text(const Diagnosis& diagnosis);
/// The command that shows more.
std::string command_of(const Diagnosis& diagnosis, const std::string& folder);

/// @param folder of the profile, for the commands that show more
std::string diagnosis_text(const ReportDocument& head, const DiagnosedRun& run, const std::string& folder, const TextStyle& style);
std::string diagnosis_markdown(const ReportDocument& head, const DiagnosedRun& run, const std::string& folder);
/// @param profile for the names of phases and hosts
/// @param trace may be null
std::string diagnosis_json(const Profile& profile, const DiagnosedRun& run, const std::string& folder, const TraceReport* trace = nullptr);

} // namespace libprofile::tools
