// Why a run takes longer than it could: causes with their ranks, iterations, functions, and what the run would gain.
// Contract: thread-safe (no state); starts threads and waits for them; allocates some 40 bytes per rank and iteration for the largest phase;
// throws std::bad_alloc only. The same result for the same profile.
#pragma once

#include "tools/analysis/selection.hpp"
#include "tools/diagnosis/cause.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

enum class Confidence : std::uint8_t { Low, Medium, High };
/// "low", "medium", "high".
const char* confidence_name(Confidence confidence);

/// One cause.
struct Diagnosis {
    Cause cause = Cause::Imbalance;
    std::optional<Cause> alternative; // that the evidence cannot tell from it
    Gain gain;                        // ns of the run
    Confidence confidence = Confidence::Medium;
    std::uint32_t phase = 0;
    bool is_whole_run = false;
    PatternKind pattern = PatternKind::Steady;
    std::size_t period = 0;                // iterations; of Periodic, and of what goes around the ranks; 0: none
    std::vector<std::uint64_t> iterations; // that it concerns, from 0, in order; empty for all of the phase
    std::vector<std::uint32_t> ranks;      // that take longer, in order; empty for all
    bool moves = false;                    // a different one of them at different times
    std::string function;                  // with most of the excess; empty if there is none
    std::string source;                    // "file:line"
    std::vector<std::string> call_path;    // to that function, outermost first
    std::string waits_in;                  // where the other ranks wait
    std::string sentence;                  // what is wrong, without a full stop
    std::vector<std::string> evidence;     // sentences
    std::string next;                      // arguments of `libprofile report FOLDER` that show it
};

struct DiagnosisChoice {
    std::optional<std::uint32_t> phase;
    IterationRange iterations;
    double least = 0.01; // share of the run: causes that cost less are left out
    std::size_t most = 10;
};

struct DiagnosedRun {
    double least = 0.01;             // share of the run that was asked for
    double run_ns = 0;               // the time that shares are of
    double gain_ns = 0;              // of all causes together
    double low_ns = 0;               // the low end of that
    std::vector<Diagnosis> list;     // largest gain first
    std::vector<std::string> scope;  // what was looked at, sentences
    std::vector<std::string> untold; // what could not be told, and why, sentences
};

/// @param profile with names
DiagnosedRun diagnose(const Profile& profile, const DiagnosisChoice& choice = {});

} // namespace libprofile::tools
