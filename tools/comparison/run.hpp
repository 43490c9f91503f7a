// One run of a program as it is compared with others: a frame, and what is known besides.
// Contract: plain data; allocates; throws ExportError, FrameError with a sentence, std::bad_alloc.
#pragma once

#include "tools/analysis/selection.hpp"
#include "tools/export/call_table.hpp"
#include "tools/frames/frame.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

/// What of runs is compared.
struct RunChoice {
    std::string metric = "time";
    std::string phase;
    bool has_phase = false;
    std::optional<IterationRange> iterations;
    std::vector<IterationRange> parts; // if not empty: only these of `iterations`, in ascending order
    std::vector<std::uint32_t> ranks;  // sorted; empty: all
    bool threads = false;              // of all threads, not only the main ones

    bool is_of_time() const { return metric == "time"; }
};

struct RunPhase {
    std::string name;
    std::uint64_t iterations = 0; // the most that a rank has
    double ns = 0;                // the most that a rank spent there, phases inside included
};

struct Run {
    std::string place;                       // as the user calls it
    std::string tool;                        // "libprofile", or an import format
    bool is_complete = true;                 // no rank is missing, killed or damaged; of other tools nobody knows
    Frame frame;                             // the metric of the choice first, and "visits" and "bytes" if there are any
    std::vector<CallTable::Sampled> sampled; // by place of the frame: what is known of the errors of times; empty if none are estimated or nothing is known
    std::vector<std::uint32_t> node_of;      // by node of `sampled`: that of the frame
    std::vector<std::uint32_t> node_of_path; // by call path of the profile: the node of `sampled`; 0 where nothing was chosen
    bool is_error_known = true;              // of times; a time that no sample is part of is exact
    std::size_t threads = 0;                 // that worked, of all ranks
    std::vector<RunPhase> phases;            // with iterations
    std::vector<std::string> notes;          // sentences
};

/// Repetitions of one run.
struct RunGroup {
    std::string name;
    std::vector<Run> runs;
};

/// @param profile with names
/// @throws ExportError when the choice does not fit it
Run run_of(const Profile& profile, const std::string& place, const RunChoice& choice);

/// Of another tool.
/// @param tool the name of the import format
/// @throws FrameError when the choice does not fit it
Run run_of(Frame frame, const std::string& place, const std::string& tool, const RunChoice& choice);

/// The ranks of a run, in order.
std::vector<std::uint32_t> ranks_of(const Run& run);

/// Gives all runs the same nodes (tools/frames/unify.hpp).
/// @return sentences about functions that were taken to be renamed
/// @throws FrameError when runs of different tools, or of programs that have nothing in common, are to be compared
std::vector<std::string> unify_runs(const std::vector<Run*>& runs);

} // namespace libprofile::tools
