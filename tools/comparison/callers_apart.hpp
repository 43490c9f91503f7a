// Functions, and calls by a wrapper, that take longer where one caller calls them get two rows: the part below that caller, and the rest.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
//
// A function that many call (a kernel, a lock, malloc) varies by chance everywhere; together that can hide what is certain of one caller.
#pragma once

#include "tools/comparison/activity.hpp"
#include "tools/comparison/interval.hpp"
#include "tools/comparison/run.hpp"

#include <string>

namespace libprofile::tools {

/// Takes the caller with the largest difference apart, if it is beyond chance, worth a hundredth of the run, and the function is called by it
/// in one group only, unlike by the rest, or the rest differs by chance only, or it has three quarters of what differs.
/// @param mean over ranks, of everything
Activities with_callers_apart(const RunGroup& before, const RunGroup& after, const std::string& metric, const Change& mean, const Activities& activities);

} // namespace libprofile::tools
