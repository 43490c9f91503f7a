// A report that renews itself while its job runs (--follow).
// Contract: one thread; reads the job's folder and writes to standard output, nothing else; returns when the job is over. Ctrl-C ends it as it ends
// other programs. The job is told nothing: its live files are read as they are.
#pragma once

#include "tools/reader/model.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace libprofile::tools {

/// What one reading of the folder came to.
struct Renewal {
    Profile profile;
    std::string text;
};

struct FollowStyle {
    double seconds = 5;   // between renewals, at least; each takes at most a fifth of the time
    bool is_json = false; // a document a line
};

/// @param renew reads the folder anew and throws ReadError while there is nothing to read
/// @return exit code: 0 if the job ended, 1 if it was killed
int follow(const std::filesystem::path& folder, const FollowStyle& style, const std::function<Renewal()>& renew);

} // namespace libprofile::tools
