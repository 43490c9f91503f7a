// The beginning of a profile file.
// Contract: once per file, by the thread that writes; memory from the buffer only. Returns false if it could not grow.
#pragma once

#include "libprofile/output/block_writer.hpp"

#include <cstdint>

namespace libprofile {

/// Writes file header, job and metric catalogue. `ranks_in_file` and `flags` as in FileHeader.
bool write_file_start(BlockBuffer& buffer, std::uint64_t ranks_in_file, std::uint32_t flags) noexcept;

} // namespace libprofile
