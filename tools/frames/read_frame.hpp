// A frame straight from the folder of a profile.
// Contract: thread-safe (no state); works with several threads; allocates; throws ReadError, ExportError, FrameError, std::bad_alloc.
//
// Of a whole run a rank is decoded, summed and let go, and what is read is proportional to the values of the frame: the sums of a large
// profile are kept beside it (totals_file.hpp). All else is that of make_call_table().
#pragma once

#include "tools/export/call_table.hpp"
#include "tools/frames/frame.hpp"

#include <cstdint>
#include <filesystem>

namespace libprofile::tools {

struct ReadLimits {
    /// Columns with more values stay in the file, and are read whenever they are asked for (FrameColumn::source). 12 bytes each.
    std::uint64_t most_rows = ~std::uint64_t{0};
    /// Sums of smaller profiles are not kept: they are found anew in no time.
    std::uint64_t least_kept = std::uint64_t{4} << 20; // bytes of the profile
};

/// What make_call_table() gives for the choice, with the same numbers of nodes. Not with `instances`.
Frame read_frame(const std::filesystem::path& place, const TableChoice& choice, const ReadLimits& limits = {});

} // namespace libprofile::tools
