// Whether two modules are one file: processes of a job number theirs by themselves.
// Contract: thread-safe (no state); allocates nothing.
#pragma once

#include "tools/reader/model.hpp"

namespace libprofile::tools {

inline bool is_same_module(const Module& one, const Module& other) {
    return one.build_id == other.build_id && (!one.build_id.empty() || one.path == other.path);
}

} // namespace libprofile::tools
