// How a program scales, as text, and as a document for Markdown, JSON and CSV.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of profiles is made printable.
#pragma once

#include "tools/comparison/scaling.hpp"
#include "tools/report/document.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace libprofile::tools {

struct ScalingForm {
    std::string command;     // the command line, as a title
    std::size_t top = 0;     // functions; 0: as many as fit a screen, or all for programs
    bool everything = false; // for programs: all rows
};

/// What the first screen says: the first sentence is its head.
std::vector<std::string> scaling_sentences(const Scaling& scaling);

ReportDocument scaling_document(const Scaling& scaling, const ScalingForm& form);
std::string scaling_text(const Scaling& scaling, const ScalingForm& form, const TextStyle& style);

} // namespace libprofile::tools
