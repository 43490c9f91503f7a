// Long text through the user's pager, as git and man do it.
// Contract: one thread; starts a process and waits for it; SIGPIPE and SIGINT are ignored while it runs; throws std::bad_alloc only.
#pragma once

#include <string>

namespace libprofile::tools {

/// Writes the text to standard output; where that is a terminal, through $LIBPROFILE_PAGER, $PAGER or less, which ends at once when
/// all fits a screen. PAGER=cat and an empty one mean none, and where the pager cannot be started the text is printed.
/// @param paged false: never a pager
void print_paged(const std::string& text, bool paged);

} // namespace libprofile::tools
