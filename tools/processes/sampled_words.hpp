// What is said of ranks that were compared by samples.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of profiles is made printable.
#pragma once

#include "tools/processes/process_words.hpp"
#include "tools/report/document.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// "by samples: 14 % of the samples of rank 3 have no partner on rank 0, where 3 % are chance; most in write_output"; of the three ranks that differ most.
/// If neither samples nor the order of calls were kept, how to get them.
std::vector<std::string> sampled_sentences(const ComparedProcesses& processes, const ProcessWords& say);

/// Of each pair two rows: the samples of one rank, and those of the other.
ReportTable sampled_table(const ComparedProcesses& processes);

} // namespace libprofile::tools
