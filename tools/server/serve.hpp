// `libprofile view --serve`: the page, and the answers to what it asks.
// Contract: as LoopbackServer.
#pragma once

#include "tools/server/snapshots.hpp"

#include <functional>
#include <stop_token>
#include <string>

namespace libprofile::tools {

struct ServeRequest {
    unsigned port = 0; // 0 takes any free port
    unsigned silence_s = 3600;
};

/// @param snapshots has one
/// @param ready called with the address once it can be opened
/// @param beside publishes further snapshots until it is stopped, in a thread of its own; empty if there are none
/// @return true: a signal ended it; false: the page was closed
bool serve(Snapshots& snapshots, const ServeRequest& request, const std::function<void(const std::string&)>& ready,
           const std::function<void(std::stop_token)>& beside = {});

/// The same of a page that asks for nothing.
/// @param page HTML (page_around())
bool serve(std::string page, const ServeRequest& request, const std::function<void(const std::string&)>& ready);

} // namespace libprofile::tools
