// Reads chosen parts of a profile file.
// Contract: thread-safe (no state); of a file with a directory it reads the tables and what was chosen, of others all. Throws
// ReadError when it is no profile file, or where the source does.
#pragma once

#include "tools/reader/byte_source.hpp"
#include "tools/reader/decode.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace libprofile::tools {

/// What is wanted; empty sets mean all.
struct Selection {
    std::set<std::uint32_t> ranks;
    std::set<std::string> phases;  // by name
    std::set<std::string> metrics; // by name, as in the file's metric table
    bool series = false;           // every iteration's own values
    bool traces = false;           // samples
    bool events = false;           // those of LIBPROFILE_TRACE=events
};

/// The chosen parts, as decode_file() gives them. Phases have no cells of metrics that were not chosen. The file's first and last rank are
/// there, too, with their times and visits, as witnesses.
/// @param name the file's name for messages
/// @throws ReadError
RawFile decode_selected(const ByteSource& source, const std::string& name, const Selection& selection);

/// All of a finished file but its events, of which it tells where they are.
/// @param file where the source is
/// @param least bytes of stored events; fewer are read
/// @return empty if the file has fewer, no directory, or some damage: then it has to be read as a whole
/// @throws ReadError
std::optional<RawFile> decode_without_events(const ByteSource& source, const std::filesystem::path& file, std::uint64_t least);

} // namespace libprofile::tools
