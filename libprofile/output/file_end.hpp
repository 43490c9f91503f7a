// The end of a finished profile file: the table of the ranks' directories, and the footer.
// Contract: outside handlers; never throws. Each rank writes its own entry, so nothing is gathered. See docs/format.md.
#pragma once

#include "libprofile/output/block_writer.hpp"

#include <cstdint>

namespace libprofile {

/// The file offsets of a rank's section and of the table.
struct FileLayout {
    std::uint64_t section_at = 0;
    std::uint64_t table_at = 0; // after all sections
    std::uint64_t position = 0; // of the rank in the table
    std::uint64_t ranks = 0;    // in the table
};

/// Bytes of the file after the sections.
std::uint64_t file_end_size(std::uint64_t ranks) noexcept;

/// Writes the directory of this rank's section. Afterwards `entry` is complete, except that section_at must be added to directory_at.
bool write_directory(BlockBuffer& section, std::uint32_t rank, RankEntry& entry) noexcept;

/// Writes this rank's entry of the table into `path`; the first rank also writes everything around the table. Returns 0 or errno.
int write_file_end(const char* path, const FileLayout& layout, RankEntry entry) noexcept;

/// The same for the file of one rank, which is the buffer.
bool append_file_end(BlockBuffer& whole, RankEntry entry) noexcept;

} // namespace libprofile
