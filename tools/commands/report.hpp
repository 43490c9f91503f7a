// `libprofile report`: where a job spent its time, as text or JSON.
// Contract: one thread; writes to standard output; returns the exit code; throws ReadError.
#pragma once

#include "tools/profile/model.hpp"

#include <string>

namespace libprofile::tools {

struct ReportOptions {
    std::string place; // the profile's folder
    bool json = false;
    bool trace = false;      // JSON: the samples of a trace, too
    bool series = false;     // JSON: the values of every iteration, too
    bool full_paths = false; // text: every frame of an interpreter
    int width = 0;           // columns; 0: those of the terminal, 100 elsewhere
    bool ascii = false;      // no other characters, no colours
};

/// Reads, resolves names, prints.
/// @throws ReadError when there is no profile
int report(const ReportOptions& options);

} // namespace libprofile::tools
