// A comparison over time as text, and as a document for Markdown, JSON and CSV.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of profiles is made printable.
#pragma once

#include "tools/comparison/comparison_document.hpp"
#include "tools/comparison/over_time.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// @param groups of which it is
ReportDocument over_time_document(const RunsOverTime& result, const std::vector<ProfiledGroup>& groups, const ComparisonForm& form);

/// The sentences, with a picture of both runs, and the table of segments.
std::string over_time_text(const RunsOverTime& result, const std::vector<ProfiledGroup>& groups, const ComparisonForm& form, const TextStyle& style);

} // namespace libprofile::tools
