// `libprofile view --serve`: the page, and the answers to what it asks.
// Contract: as LoopbackServer.
#pragma once

#include "tools/view/page.hpp"

#include <functional>
#include <string>

namespace libprofile::tools {

struct ServeRequest {
    unsigned port = 0; // 0 takes any free port
    unsigned silence_s = 3600;
};

/// @param ready called with the address once it can be opened
/// @return true: a signal ended it; false: the page was closed
bool serve(const Profile& profile, PageRequest page, const ServeRequest& request, const std::function<void(const std::string&)>& ready);

} // namespace libprofile::tools
