// The built viewer (viewer/dist/view.html), linked into the tool.
// Contract: constant data; thread-safe.
#pragma once

#include <string_view>

namespace libprofile::tools {

std::string_view page_template();

} // namespace libprofile::tools
