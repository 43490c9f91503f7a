// Reads the profile of a job from its folder.
// Contract: thread-safe (no state); allocates in proportion to the bytes on disk; throws ReadError with one sentence
// when there is nothing to read. Damaged parts are left out, named in Profile::notes, and Profile::complete is false.
#pragma once

#include "tools/reader/blocks.hpp"
#include "tools/reader/model.hpp"
#include "tools/reader/select.hpp"

#include <filesystem>
#include <span>
#include <string>

namespace libprofile::tools {

/// The file that resolved names are kept in, next to the profile.
inline constexpr const char* names_file = "names.lprof";

/// Sums of what the profile has, next to it (tools/frames/totals_file.hpp). No profile file.
inline constexpr const char* totals_file = "totals.lprof";

/// The bytes of one file of a profile folder.
struct NamedBytes {
    std::string name;
    Bytes bytes;
};

/// The profile files of a folder: the common file first, then those of single ranks, unfinished ones last.
/// @throws ReadError
std::vector<std::filesystem::path> profile_files(const std::filesystem::path& folder);

/// Reads all profile files of a folder: `profile.lprof`, `rank-N.lprof` of ranks that wrote alone, stored names, and
/// `.partial` files of a job that did not finish.
/// @param path the folder, or one profile file
/// @throws ReadError
Profile read_profile(const std::filesystem::path& path);

/// Chosen parts only, without reading the others where the files have directories. Sums over what is missing are not
/// checked, and `complete` says nothing of ranks that were not chosen.
/// @throws ReadError
Profile read_profile(const std::filesystem::path& path, const Selection& selection);
Profile read_profile(const ByteSource& source, const std::string& name, const Selection& selection);

/// All but the events of files that have many of them and are finished, for those who read events where they are (Location::left_events).
/// @param least bytes of events that a file has at least before they are left there
/// @throws ReadError
Profile read_profile_without_events(const std::filesystem::path& path, std::uint64_t least);

/// All of files in memory, in this order; where two hold the same rank, the first wins.
/// @throws ReadError
Profile read_profile(std::span<const NamedBytes> files);

} // namespace libprofile::tools
