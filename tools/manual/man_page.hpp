// The text of a command's --help as a man page (groff's man macros), so that both have one source.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include <string>

namespace libprofile::tools {

struct ManPage {
    std::string name;    // "libprofile-report"
    int section = 1;     // of the manual
    std::string summary; // one line, without a full stop
    std::string help;    // paragraphs, "Usage: ...", and blocks of lines below a heading that ends with a colon
    std::string see_also;
};

/// The page. Blocks become sections: the usage first, examples last; lines such as "  --option VALUE   what it does" become items.
/// @param version  for the footer, as "0.1.0"
std::string man_page(const ManPage& page, const std::string& version);

/// libprofile-options(7): every row of format/options.def.
std::string options_man_page(const std::string& version);

} // namespace libprofile::tools
