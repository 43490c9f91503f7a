// The source text of the lines of a function, and whether it is that of the program that ran.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/function_lines.hpp"
#include "tools/names/source_text.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

struct LineSource {
    SourceText text;  // without lines where there is none to show
    std::string note; // a sentence: why there is none, or why it may be another one; empty if all is well
};

/// @param file one of the files of the lines; empty: the lines are not known
LineSource source_of(const Profile& profile, const FunctionLines& lines, const std::string& file, const std::vector<SourceMap>& maps);

} // namespace libprofile::tools
