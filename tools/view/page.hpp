// The page of `libprofile view`: one HTML file that holds the viewer and a profile.
// Contract: one thread; allocates in proportion to ranks times iterations; throws ViewError and std::bad_alloc.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/view/page_request.hpp"

#include <string>

namespace libprofile::tools {

/// @throws ViewError when a metric that is asked for is none of any phase
std::string page(const Profile& profile, const PageRequest& request = {});

} // namespace libprofile::tools
