// The formats of `libprofile export`: one row each in formats.cpp, one file each next to it.
// Contract: constant data; the functions are called once per process by the command, allocate, and throw ExportError.
#pragma once

#include "tools/export/call_table.hpp"
#include "tools/export/sink.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// What the user asked for.
struct ExportRequest {
    TableChoice choice;
    bool by_rank = false;                                 // formats that sum over ranks otherwise
    std::vector<std::pair<std::string, std::string>> set; // names and values of the user, for formats with metadata
    // Of tasks of OpenMP, for dot.
    std::optional<std::pair<std::uint64_t, std::uint64_t>> depths; // both included
    std::string task_type;                                         // is in the name of their function or in their source line
};

/// What the user must know about what was written, one sentence each.
using Remarks = std::vector<std::string>;

struct ExportFormat {
    const char* name;
    const char* summary;
    const char* suffix; // of the default name
    bool is_folder;
    const char* next; // how to open it; {} is the path
    Remarks (*write)(const Profile&, const ExportRequest&, Sink&);
    bool needs_events = false; // refuses a profile without kept events (LIBPROFILE_TRACE=events)
    bool needs_tasks = false;  // and one without tasks of OpenMP
};

std::span<const ExportFormat> export_formats();
/// Those that can be made of every profile.
std::vector<ExportFormat> formats_of_all_profiles();

Remarks write_hpctoolkit(const Profile&, const ExportRequest&, Sink&);
Remarks write_caliper(const Profile&, const ExportRequest&, Sink&);
Remarks write_cubex(const Profile&, const ExportRequest&, Sink&);
Remarks write_speedscope(const Profile&, const ExportRequest&, Sink&);
Remarks write_folded(const Profile&, const ExportRequest&, Sink&);
Remarks write_pprof(const Profile&, const ExportRequest&, Sink&);
Remarks write_extrap(const Profile&, const ExportRequest&, Sink&);
Remarks write_chrome(const Profile&, const ExportRequest&, Sink&);
Remarks write_otf2(const Profile&, const ExportRequest&, Sink&);
Remarks write_perfetto(const Profile&, const ExportRequest&, Sink&);
Remarks write_paraver(const Profile&, const ExportRequest&, Sink&);
Remarks write_dot(const Profile&, const ExportRequest&, Sink&);
Remarks write_csv(const Profile&, const ExportRequest&, Sink&);

/// What is to be said of a table of iterations of which the profile does not tell what lies inside; else nothing.
Remarks untold_remarks(const CallTable& table);

} // namespace libprofile::tools
