// A comparison as text, and as a document for Markdown, JSON and CSV.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of profiles is made printable.
#pragma once

#include "tools/comparison/comparison_words.hpp"
#include "tools/report/document.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace libprofile::tools {

struct ComparisonForm {
    std::string command;     // the command line, as a title
    std::size_t top = 0;     // functions and call paths; 0: as many as fit a screen, or all for programs
    bool everything = false; // for programs: all rows, and a table of the runs
};

/// What the first screen says of differences, in columns.
void append_lines(const std::vector<DifferenceLine>& lines, TextWriter& to);

ReportDocument comparison_document(const Comparison& comparison, const std::vector<RunGroup>& groups, const ComparisonForm& form);

/// The sentences, then the tables.
std::string comparison_text(const Comparison& comparison, const std::vector<RunGroup>& groups, const ComparisonForm& form, const TextStyle& style);

} // namespace libprofile::tools
