// The page of `libprofile view`: one HTML file that holds the viewer and a profile.
// Contract: one thread; allocates in proportion to ranks times iterations; throws ViewError and std::bad_alloc.
#pragma once

#include "tools/frames/frame.hpp"
#include "tools/reader/model.hpp"
#include "tools/view/page_request.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace libprofile::tools {

/// @throws ViewError when a metric that is asked for is none of any phase
std::string page(const Profile& profile, const PageRequest& request = {});
/// The page of a profile of another tool.
/// @param metrics of the trees; empty: all
/// @throws FrameError when there is no such metric
std::string page(const Frame& frame, const std::vector<std::string>& metrics);

/// The same of data that are there already (page_data.hpp).
std::string page_around(std::string_view data, bool served);

} // namespace libprofile::tools
