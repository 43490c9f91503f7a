// The calls of each collective operation of MPI on all ranks of its communicator (LIBPROFILE_TRACE=events): who came last, and how long after the others.
// Contract: constant after construction and then thread-safe; n log n of the calls; allocates in proportion to them; throws std::bad_alloc only.
//
// MPI's order (MPI 4.0, 6.1): all ranks of a communicator call its operations in the same order. Each call has its number in that order. Communicators of
// the same ranks count as one: programs whose threads use several at once may order them differently. Where two ranks have different functions, or one
// rank two calls, for any number of a communicator, nothing is said of that communicator. Roots and sizes were not recorded.
#pragma once

#include "tools/analysis/clock_axis.hpp"
#include "tools/reader/model.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

struct CollectiveOperation {
    struct Call {
        std::uint32_t location = 0, interval = 0; // positions in Profile::locations, and in its KeptEvents::intervals
        std::uint64_t begin_ns = 0;               // on the axis
    };
    std::uint32_t communicator = 0; // a hash of its ranks; 0: those of MPI_COMM_WORLD
    std::uint64_t number = 0;       // from 1
    std::vector<Call> calls;        // those that were kept, in the order in which they began
    bool is_whole = false;          // the calls of all ranks of the communicator are there, and their clocks can be compared

    const Call& last() const { return calls.back(); }
};

class CollectiveOperations {
  public:
    CollectiveOperations(const Profile& profile, const ClockAxis& axis);

    /// By communicator and number.
    const std::vector<CollectiveOperation>& all() const { return operations_; }
    /// That a call belongs to; null if it is none, or nothing can be said of it.
    const CollectiveOperation* of(std::size_t location, std::size_t interval) const;
    /// Ranks of MPI_COMM_WORLD, by rank of the communicator; null if they are not known. The hash proves them.
    const std::vector<std::uint32_t>* members(std::uint32_t communicator) const;
    /// "MPI_COMM_WORLD", or "communicator of ranks 0,2,4-6".
    std::string name(std::uint32_t communicator) const;

  private:
    std::vector<CollectiveOperation> operations_;
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> of_call_; // by location and interval: position in operations_
    std::map<std::uint32_t, std::vector<std::uint32_t>> members_;        // those that are known
};

} // namespace libprofile::tools
