// The report as JSON, described in docs/json.md.
// Contract: thread-safe (no state); allocates in proportion to ranks times call paths; throws std::bad_alloc, and
// SelectionError when so many ranks are missing that their entries alone would fill the memory.
#pragma once

#include "tools/reader/model.hpp"

#include <string>

namespace libprofile::tools {

/// @return the document in UTF-8; bytes of the profile that are not UTF-8 become U+FFFD
/// Large parts, left out by default.
struct JsonParts {
    bool trace = false;  // the samples of LIBPROFILE_TRACE
    bool series = false; // the values of every iteration
};
std::string report_json(const Profile& profile, JsonParts parts = {});

} // namespace libprofile::tools
