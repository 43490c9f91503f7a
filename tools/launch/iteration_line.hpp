// LIBPROFILE_ITERATION=function:line, turned into ranges of code before the program starts: the runtime reads no line tables.
// Contract: allocates; starts the program's loader once, which lists the libraries and runs none of the program; prints nothing.
#pragma once

#include <string>

namespace libprofile::tools {

/// "f:12=app+0x1a2b-0x1a40|..." for "f:12", "a=app+0x1a2b-0x1a40,g" for "a=f:12,g"; values without a line as they are.
/// @param program its path; empty: not known
/// @param problem a sentence, if there is such a line nowhere; then the result is "marker"
std::string with_code_ranges(const std::string& value, const std::string& program, std::string& problem);

} // namespace libprofile::tools
