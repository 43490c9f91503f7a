// A compression method as the evaluation sees it: it takes the full iterations of one location one by one, as the runtime
// would, and gives back what it can still tell about each.
// Contract: an instance belongs to one location and phase and to one thread; add() in the order of the iterations, then
// finish() once, then the questions in any order. add() is what is timed, so it does what the job would do and no more.
// Source: the off-line version of Szebenyi, Wolf, Wylie, "Space-Efficient Time-Series Call-Path Profiling of Parallel
// Applications" (SC 2009), 5.2: methods are compared on the same measurement, not on different runs.
#pragma once

#include "libprofile/clustering/condensed_vector.hpp"
#include "libprofile/clustering/iteration_profile.hpp"
#include "libprofile/clustering/signature.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// What a cell says about its call path.
enum class CellKind : std::uint8_t {
    Event,   // measured exactly: MPI call paths
    Sampled, // estimated by samples: all other call paths, and the samples that hit an MPI call
    Own      // of libprofile itself: no call path of the program
};

/// One iteration of one location, in full.
struct RecordedIteration {
    std::vector<libprofile::Cell> cells;   // the runtime's: key = path * 64 + metric, exclusive, sorted by key, not zero
    libprofile::CondensedVector condensed; // whole-iteration values of all catalogue metrics
    libprofile::StructureSignatures signatures;
    std::uint64_t wall_ns = 0; // inclusive
};

/// Bytes at the end of the last iteration; memory_count.hpp counts them alike for all methods. What belongs to no cell
/// (membership, distances) is counted with the events, since it is needed for them already.
struct MethodMemory {
    std::uint64_t running_event_bytes = 0; // in the process
    std::uint64_t running_sampled_bytes = 0;
    std::uint64_t stored_event_bytes = 0; // in the file
    std::uint64_t stored_sampled_bytes = 0;
};

class Method {
  public:
    Method() = default;
    Method(const Method&) = delete;
    Method& operator=(const Method&) = delete;
    virtual ~Method() = default;

    /// As in tables: "reference K=64".
    virtual std::string name() const = 0;
    /// The next iteration.
    virtual void add(const RecordedIteration& iteration) = 0;
    /// After the last one.
    virtual void finish() = 0;
    /// The reconstruction of an iteration: key and value, sorted by key; keys that are not listed have the value 0.
    virtual std::vector<std::pair<std::uint32_t, double>> cells_of(std::size_t iteration) = 0;
    /// Its whole-iteration values: catalogue_size of them.
    virtual std::vector<double> whole_of(std::size_t iteration) = 0;
    virtual MethodMemory memory() const = 0;
    /// What the method decided on the way, for people; empty: nothing to say.
    virtual std::string remark() const { return {}; }
};

struct Recording;

/// Makes the instance for one location (index into Recording::locations).
using MethodFactory = std::function<std::unique_ptr<Method>(const Recording& recording, std::size_t location)>;

} // namespace libprofile::tools
