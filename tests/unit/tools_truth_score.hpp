// How well `libprofile diagnose` finds what was planted in a run.
// Contract: for tests; one thread; allocates freely.
#pragma once

#include "tests/unit/tools_lost_profile.hpp"
#include "tools/diagnosis/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace libprofile::test {

struct TruthScore {
    std::size_t planted = 0, found = 0, ranks = 0, gain = 0; // of those found: with the right ...
    std::size_t function = 0, functions = 0;                 // right, of those found that have one
    std::size_t iterations = 0, iteration_lists = 0;         // overlap by 0.9, of those found that have some
    std::size_t period = 0, periods = 0;                     // right, of those found that go around
    std::size_t reported = 0, right = 0;                     // findings
    std::string wrong;                                       // one line for each

    void add(const TruthScore& more) {
        planted += more.planted, found += more.found, ranks += more.ranks, gain += more.gain;
        function += more.function, functions += more.functions, iterations += more.iterations, iteration_lists += more.iteration_lists;
        period += more.period, periods += more.periods;
        reported += more.reported, right += more.right, wrong += more.wrong;
    }
};

inline std::vector<std::string> causes_of_truth() {
    return {"steady",        "range",   "growing",  "rank_periodic", "moving", "noise",    "serial",   "late_sender", "late_root", "slow",    "growth",
            "growth_counts", "changed", "periodic", "io_rank",       "io_all", "off_rank", "off_host", "warm_up",     "volume",    "threads", "gather"};
}

inline bool is_cause(const PlantedCause& planted, tools::Cause cause, std::size_t ranks) {
    using tools::Cause;
    const std::string& name = planted.cause;
    if (name == "noise") return cause == Cause::Noise;
    // Of two ranks, one after the other is the same as a late sender.
    if (name == "serial") return cause == Cause::Serialisation || (ranks == 2 && cause == Cause::LateSender);
    if (name == "gather") return cause == Cause::Serialisation;
    if (name == "late_sender") return cause == Cause::LateSender;
    if (name == "late_root") return cause == Cause::LateRoot;
    if (name == "slow") return cause == Cause::SlowMachine;
    if (name == "less_assembly") return cause == Cause::ShrinkingWork;
    if (name == "growth" || name == "growth_counts" || name == "levels_off") return cause == Cause::GrowingWork;
    if (name == "changed") return cause == Cause::ChangedWork;
    if (name == "periodic") return cause == Cause::PeriodicWork;
    if (name == "io_rank" || name == "io_all" || name == "io_sleep" || name == "io_placed") return cause == Cause::InputOutput;
    if (name == "off_rank" || name == "off_host") return cause == Cause::OffProcessor;
    if (name == "warm_up") return cause == Cause::WarmUp;
    if (name == "volume") return cause == Cause::CommunicationVolume;
    if (name == "threads") return cause == Cause::UnequalThreads;
    return cause == Cause::Imbalance; // steady, range, growing, rank_periodic, moving, assembly
}

/// Jaccard index of the iterations; 1 if both are all.
inline double overlap_of(const PlantedCause& planted, const tools::Diagnosis& found, std::size_t iterations) {
    std::vector<bool> mine(iterations, found.iterations.empty());
    for (const std::uint64_t i : found.iterations) mine[i] = true;
    std::size_t both = 0, either = 0;
    for (std::size_t i = 0; i < iterations; ++i) {
        const bool has = planted.iterations.empty() || planted.iterations[i];
        both += has && mine[i] ? 1 : 0;
        either += has || mine[i] ? 1 : 0;
    }
    return either == 0 ? 0 : static_cast<double>(both) / static_cast<double>(either);
}

inline bool has_ranks_of(const PlantedCause& planted, const tools::Diagnosis& found) {
    if (planted.cause == "serial" || planted.cause == "threads") return true; // of all ranks, and one is named
    return planted.moves ? found.moves : planted.ranks == found.ranks;
}

inline bool is_of(const PlantedCause& planted, const tools::Diagnosis& found, const LostRun& run) {
    if (!is_cause(planted, found.cause, run.ranks()) || overlap_of(planted, found, run.iterations()) < 0.3) return false;
    if (planted.ranks.empty() || planted.moves || found.ranks.empty()) return planted.moves == found.moves;
    return std::any_of(planted.ranks.begin(), planted.ranks.end(),
                       [&](std::uint32_t r) { return std::find(found.ranks.begin(), found.ranks.end(), r) != found.ranks.end(); });
}

inline TruthScore score_of(const LostRunChoice& choice, double least = 0.01) {
    const LostRun run(choice);
    const tools::Profile profile = LostProfile(run).read();
    tools::DiagnosisChoice how;
    how.least = least;
    const tools::DiagnosedRun diagnosed = diagnose(profile, how);
    TruthScore score;
    std::string name =
        std::to_string(choice.ranks) + " ranks, " + std::to_string(100 * choice.share) + " %, " + choice.jitter + ", seed " + std::to_string(choice.seed);
    std::vector<bool> is_right(diagnosed.list.size());
    for (const PlantedCause& planted : run.planted()) {
        ++score.planted;
        const tools::Diagnosis* best = nullptr;
        for (std::size_t d = 0; d < diagnosed.list.size(); ++d) {
            if (!is_of(planted, diagnosed.list[d], run)) continue;
            is_right[d] = true;
            if (best == nullptr || diagnosed.list[d].gain.value > best->gain.value) best = &diagnosed.list[d];
        }
        const std::string what = name + ", " + planted.cause + ": ";
        if (best == nullptr) {
            score.wrong += what + "not found\n";
            continue;
        }
        ++score.found;
        const auto check = [&](bool is_good, std::size_t& count, const std::string& why) {
            count += is_good ? 1 : 0;
            if (!is_good) score.wrong += what + why + "\n";
        };
        check(has_ranks_of(planted, *best), score.ranks, "ranks of: " + best->sentence);
        const double gain = best->gain.value / planted.gain;
        check(std::abs(gain - 1) <= 0.25, score.gain, "gain times " + std::to_string(gain) + ": " + best->sentence);
        if (!planted.function.empty()) {
            ++score.functions;
            const bool is_kernel = choice.kernel && best->function == "kernel" && best->sentence.find("called by " + planted.function) != std::string::npos;
            check(is_kernel || best->function.find(planted.function) != std::string::npos, score.function, "function of: " + best->sentence);
        }
        if (planted.period != 0) {
            ++score.periods;
            check(best->period == planted.period, score.period, "period of: " + best->sentence);
        }
        if (!planted.iterations.empty()) {
            ++score.iteration_lists;
            const double overlap = overlap_of(planted, *best, run.iterations());
            check(overlap >= 0.9, score.iterations, "iterations overlap by " + std::to_string(overlap) + ": " + best->sentence);
        }
    }
    for (std::size_t d = 0; d < diagnosed.list.size(); ++d) {
        ++score.reported;
        score.right += is_right[d] ? 1 : 0;
        if (!is_right[d])
            score.wrong += name + (choice.causes.empty() ? "" : ", " + choice.causes[0]) + ": not planted: " + tools::cause_name(diagnosed.list[d].cause) +
                           ", " + std::to_string(100 * diagnosed.list[d].gain.value / diagnosed.run_ns) + " %: " + diagnosed.list[d].sentence + "\n";
    }
    return score;
}

} // namespace libprofile::test
