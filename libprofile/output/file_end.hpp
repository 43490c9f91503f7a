// What a finished profile file ends with: the table of the ranks' directories, and the footer.
// Contract: outside handlers; each rank writes its own entry, so that nothing is gathered; never throws. docs/format.md.
#pragma once

#include "libprofile/output/block_writer.hpp"

#include <cstdint>

namespace libprofile {

/// Where a rank's section and the table are.
struct FilePlaces {
    std::uint64_t section_at = 0;
    std::uint64_t table_at = 0; // behind all sections
    std::uint64_t position = 0; // of the rank in the table
    std::uint64_t ranks = 0;    // in the table
};

/// Bytes of the file behind the sections.
std::uint64_t file_end_size(std::uint64_t ranks) noexcept;

/// The directory of this rank's section; afterwards `place` lacks section_at in directory_at only.
bool write_directory(BlockBuffer& section, std::uint32_t rank, RankPlace& place) noexcept;

/// Writes this rank's entry of the table into `path`, and for the first one also what surrounds the table. Returns 0 or errno.
int write_file_end(const char* path, const FilePlaces& places, RankPlace place) noexcept;

/// The same for a file of one rank, which is the buffer.
bool append_file_end(BlockBuffer& whole, RankPlace place) noexcept;

} // namespace libprofile
