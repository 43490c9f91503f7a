#include "tools/view/page_template.hpp"

extern "C" {
extern const char libprofile_viewer_begin[];
extern const char libprofile_viewer_end[];
}

namespace libprofile::tools {

std::string_view page_template() { return {libprofile_viewer_begin, static_cast<std::size_t>(libprofile_viewer_end - libprofile_viewer_begin)}; }

} // namespace libprofile::tools
