// Reads a profile that was built in memory.
// Contract: for tests; throws what the reader throws.
#pragma once

#include "tests/unit/tools_profile_builder.hpp"
#include "tools/reader/reader.hpp"

#include <span>
#include <string>

namespace libprofile::test {

/// The profile of a job whose only file has these bytes. `name` says what kind of file it is: rank-N.lprof is a live file.
inline tools::Profile read_one(const ByteVector& bytes, const std::string& name = "profile.lprof") {
    const tools::NamedBytes file{name, bytes};
    return tools::read_profile(std::span(&file, 1));
}

} // namespace libprofile::test
