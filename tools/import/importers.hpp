// Profiles of other tools, each by a file of its own (import/NAME.cpp), mirror of tools/export.
// Contract: thread-safe (no state); allocates; throws FrameError with a sentence, and std::bad_alloc. Files are not trusted.
#pragma once

#include "tools/frames/frame.hpp"

#include <filesystem>
#include <span>
#include <string_view>

namespace libprofile::tools {

/// One format.
struct ImportFormat {
    const char* name;
    const char* what; // for help and docs
    /// Whether this is such a file or folder.
    /// @param head the first 4 KiB of the file, unpacked if it is gzipped; empty for a folder
    bool (*is_it)(const std::filesystem::path& place, std::string_view head);
    Frame (*read)(const std::filesystem::path& place);
};

std::span<const ImportFormat> import_formats();

/// Reads what another tool wrote, whatever it is called.
/// @throws FrameError when no format fits, or the file is damaged
Frame import_frame(const std::filesystem::path& place);

/// The format that fits, or null.
const ImportFormat* import_format(const std::filesystem::path& place);
inline bool is_importable(const std::filesystem::path& place) { return import_format(place) != nullptr; }

Frame read_caliper_json(const std::filesystem::path& place);
Frame read_caliper_text(const std::filesystem::path& place);
Frame read_csv(const std::filesystem::path& place);
Frame read_cubex(const std::filesystem::path& place);
Frame read_folded(const std::filesystem::path& place);
Frame read_gprof(const std::filesystem::path& place);
Frame read_hatchet_json(const std::filesystem::path& place);
Frame read_hatchet_literal(const std::filesystem::path& place);
Frame read_hpctoolkit(const std::filesystem::path& place);
Frame read_hpctoolkit_4(const std::filesystem::path& place);
Frame read_pprof(const std::filesystem::path& place);
Frame read_speedscope(const std::filesystem::path& place);
Frame read_tau(const std::filesystem::path& place);

} // namespace libprofile::tools
