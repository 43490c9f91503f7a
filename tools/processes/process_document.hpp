// What `libprofile structure` says: groups of processes, strips and a map over the iterations, hot cells; as text and as a document for other formats.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of profiles is made printable.
#pragma once

#include "tools/processes/compared_processes.hpp"
#include "tools/report/document.hpp"

#include <string>

namespace libprofile::tools {

struct ProcessForm {
    ReportDocument head; // title and warnings of the job
    FoldBy fold = FoldBy::Dominating;
    bool everything = false; // for programs: every iteration and rank
    bool threads = false;    // rows are threads
};

ReportDocument process_document(const Profile& profile, const ComparedProcesses& processes, const ProcessForm& form);

/// The sentences, then the pictures.
std::string process_text(const Profile& profile, const ComparedProcesses& processes, const ProcessForm& form, const TextStyle& style);

} // namespace libprofile::tools
