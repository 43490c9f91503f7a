// Which clusters of different ranks are the same behaviour, and get the same name everywhere: "these 12 ranks went
// through kinds A A B A, the others A A A A".
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
//
// Ranks form clusters alone while they run. Here the clusters of all ranks are matched by what an iteration does: its computation
// on the processor, its calls, messages and bytes, each per iteration and divided by the average over all ranks; and by which MPI
// calls it makes. Waiting in MPI is left out: it tells what other ranks do. Calls do not count either if their number is
// random (MPI_Test, MPI_Iprobe and their like).
#pragma once

#include "tools/analysis/iterations.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

/// Clusters of several locations that are one behaviour.
struct KindOfIteration {
    std::uint64_t iterations = 0; // over all locations
    std::uint64_t clusters = 0;
    double mean_time = 0;          // ns: wall time of an iteration, waiting included
    std::optional<double> compute; // ns of it on the processor outside MPI, in phases inside, too; empty if unknown
    TimeSpread times;              // wall time of its iterations
};

/// Iterations of one kind that follow each other.
struct KindRun {
    static constexpr std::uint32_t none = 0xffffffffu; // in no cluster
    std::uint32_t kind = 0;
    std::uint64_t length = 0;
    bool operator==(const KindRun&) const = default;
};

/// Locations that went through the same kinds in the same order.
struct KindSequence {
    std::vector<std::uint32_t> locations; // indices into the list that was asked for
    std::vector<KindRun> runs;
};

struct KindsOfPhase {
    std::vector<KindOfIteration> kinds;                 // most iterations first
    std::vector<KindSequence> sequences;                // most locations first; locations that never entered the phase are in none
    std::vector<std::vector<std::uint32_t>> of_cluster; // kinds by location, then cluster
};

/// A to Z, then AA, AB and so on; "-" for none. Text, JSON and the page call kinds so.
std::string kind_letters(std::uint32_t kind);

/// The names of a location's clusters: the letters of the kind, and a number by size, the largest first, where the location has several
/// clusters of that kind. The last is "-", for iterations in no cluster.
std::vector<std::string> cluster_names(const PhaseData& data, const std::vector<std::uint32_t>& kind_of_cluster);

/// Matches the clusters of a phase over some locations (null for a rank without data).
KindsOfPhase match_kinds(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase);

/// By location, the kinds of its clusters: those of main threads are matched among each other, those of all other threads among themselves.
std::vector<std::vector<std::uint32_t>> kinds_of_clusters(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase);

} // namespace libprofile::tools
