// The text of a source file, found by the path that the debug information has, or where the user says that it is now.
// Contract: thread-safe (no state); allocates; a file that cannot be shown is an answer, nothing throws but std::bad_alloc.
//
// The paths come from a profile, which may be anybody's. Only regular files of a moderate size are opened that are named like source
// code and hold text, so a profile cannot make a report of keys and passwords, and neither a device nor a pipe stops the tool.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// What begins with the folder `from` in the profile is in `to` on this machine.
struct SourceMap {
    std::string from, to;
};

struct SourceText {
    std::string path;               // that was opened, or tried first
    std::vector<std::string> lines; // printable, with blanks for tabs
    std::string problem;            // why there are none: "No such file or directory"; empty if it was read
    std::int64_t changed_ns = 0;    // since 1970
};

/// Tries the maps that fit, in their order, then the path as it is.
/// @param file as in the profile
SourceText read_source(const std::string& file, const std::vector<SourceMap>& maps);

/// When a file was last changed, ns since 1970; 0 if it is not there.
std::int64_t time_of_change(const std::string& path);

} // namespace libprofile::tools
