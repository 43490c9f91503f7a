// How text may look where it goes: on this terminal, or in a file.
// Contract: reads the environment and asks the terminal of standard output; one thread.
#pragma once

#include "tools/text/layout.hpp"

namespace libprofile::tools {

/// @param width columns; 0 takes those of the terminal, or 100
/// @param ascii no other characters, no colours
TextStyle style_of_output(int width, bool ascii);

} // namespace libprofile::tools
