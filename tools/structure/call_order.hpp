// In which order a rank made its calls in each iteration, as one number that is the same in every run that did the same (LIBPROFILE_ORDER).
// Contract: thread-safe (no state); time and memory in proportion to the iterations and the events of the sequences; throws std::bad_alloc only.
//
// The sequences' own hashes are of addresses, so a program that was compiled anew has others. These are of keys, which are of names. An iteration inside
// is one event of its phase, whatever it did. Equal neighbours count as one with a number, however the profile folded them.
#pragma once

#include "tools/reader/model.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// @param key_of_path by call path of the profile; equal keys in two runs are the same call path
/// @return by iteration; 0: the order of all its events is not known
std::vector<std::uint64_t> call_orders(const Profile& profile, const PhaseData& data, const std::vector<std::uint32_t>& key_of_path, std::size_t iterations);

} // namespace libprofile::tools
