// The contents of a file that somebody else made.
// Contract: thread-safe (no state); allocates; throws FrameError.
#pragma once

#include "tools/frames/frame.hpp"
#include "tools/import/memory_limit.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace libprofile::tools {

/// All of a file, unpacked if it is gzipped.
/// @param memory from which it is taken
/// @throws FrameError when it cannot be read, is damaged, or unpacks to more than 16 times its size and 128 MiB
std::string file_bytes(const std::filesystem::path& file, MemoryLimit& memory);

/// Unpacks gzip files and zlib streams, one or several after each other.
/// @param most how many bytes it may come to
/// @throws FrameError when it is damaged, or more
std::string inflated(std::string_view packed, std::size_t most);

/// A number written in decimals, all of `text`.
/// @throws FrameError
double number_in(std::string_view text);
std::uint64_t whole_number_in(std::string_view text);

/// Cuts off the first line, without its end.
std::string_view take_line(std::string_view& text);

} // namespace libprofile::tools
