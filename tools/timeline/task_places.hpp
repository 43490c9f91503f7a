// Where the data of OpenMP tasks lie, seen from where the tasks ran: on the same NUMA node, or on another one.
// Contract: thread-safe (no state); n log n of what the tasks depend on; allocates its results; throws std::bad_alloc only.
//
// An access is one depend clause of a complete task: a read if it is `in`, a write if it is `out`, both otherwise. How much of its data a task touches, and
// how often, nobody tells. The task's node is that of the processor on which its longest run ended, the data's that of the page of the address.
// How far the one is from the other is what the firmware of the rank's machine says, if the profile has that.
#pragma once

#include "tools/timeline/task_graph.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libprofile::tools {

struct TaskPlaces {
    struct Sums {
        std::uint64_t local = 0, remote = 0, unknown = 0; // accesses; unknown: one of the two nodes is not known
        std::uint64_t measured = 0;                       // known ones between nodes whose distance is known
        double distances = 0;                             // the sum of theirs, relative to a node's own memory
        std::uint64_t known() const { return local + remote; }
        /// Nothing if that of an access is not known.
        std::optional<double> mean_distance() const {
            return measured == 0 || measured != known() ? std::nullopt : std::optional(distances / static_cast<double>(measured));
        }
        void add(const Sums& other) {
            local += other.local, remote += other.remote, unknown += other.unknown, measured += other.measured;
            distances += other.distances;
        }
    };
    struct Thread {
        std::uint32_t location = 0; // position in Profile::locations
        Sums sums;
    };
    struct Cell {
        std::uint32_t worker = 0, data = 0; // nodes
        std::uint64_t reads = 0, writes = 0;
        std::optional<double> distance = {}; // relative to a node's own memory
    };
    static constexpr std::uint32_t unknown = UINT32_MAX;
    Sums all;
    std::vector<Sums> of_task;               // by position in TaskGraph::tasks
    std::vector<std::uint32_t> node_of_task; // the same: where a complete task ran; unknown: that of all others
    std::vector<Thread> threads;             // those that ran tasks with depend clauses
    std::vector<Cell> matrix;                // the cells that are not 0, by worker, then data

    /// Whether more than one node is known.
    bool has_several_nodes() const;
};

/// The NUMA node of a processor of a rank's machine, if that is known.
std::optional<std::uint32_t> node_of_processor(const RankInfo& rank, std::uint16_t number);

/// @param graph of tasks of this rank
TaskPlaces task_places(const Profile& profile, std::uint32_t rank, const TaskGraph& graph);

} // namespace libprofile::tools
