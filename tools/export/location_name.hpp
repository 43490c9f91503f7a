// "rank 3", "rank 3 thread 1": what ranks and threads are called in files of stacks, written and read.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace libprofile::tools {

std::string location_name(std::uint32_t rank, std::uint32_t thread);

struct NamedLocation {
    std::uint32_t rank = 0, thread = 0;
};
/// Empty if the text is no such name.
std::optional<NamedLocation> location_named(std::string_view text);

} // namespace libprofile::tools
