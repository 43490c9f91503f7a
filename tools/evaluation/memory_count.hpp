// Counts the bytes that cells and what belongs to them take, in the process and in the file: one count for all methods.
// Contract: a plain value, used by one thread; allocates nothing.
// In the process: what the algorithm has to keep, without the slack of the allocator. In the file: the bytes of the
// records of a Phase block as format/profile_file.hpp describes them.
#pragma once

#include "format/profile_file.hpp"
#include "libprofile/clustering/iteration_profile.hpp"
#include "tools/evaluation/method.hpp"

#include <span>
#include <vector>

namespace libprofile::tools {

/// By path: what its cells are.
using PathKinds = std::vector<CellKind>;

/// @param key path * 64 + metric
CellKind kind_of_cell(const PathKinds& paths, std::uint32_t key);

class MemoryCount {
  public:
    explicit MemoryCount(const PathKinds& paths) : paths_(&paths) {}

    /// A profile: sorted cells, and in the file its ClusterRecord. Cells of libprofile itself are counted with the sampled
    /// ones: they are stored, too.
    void add_profile(std::span<const libprofile::Cell> cells, std::uint64_t members, std::uint64_t equivalence_class);
    /// The cluster of every iteration: `running` bytes in the process, runs in the file.
    void add_membership(std::span<const std::uint32_t> cluster_of_iteration, std::uint64_t running);
    /// The distances between so many clusters, in the process only: half a matrix of floats.
    void add_distances(std::uint64_t clusters);
    /// Bytes of anything else, event or sampled.
    void add_running(CellKind kind, std::uint64_t bytes);
    void add_stored(CellKind kind, std::uint64_t bytes);

    const MethodMemory& result() const { return result_; }

  private:
    const PathKinds* paths_;
    MethodMemory result_;
};

} // namespace libprofile::tools
