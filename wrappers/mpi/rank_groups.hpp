// Which ranks of MPI_COMM_WORLD the ranks of other communicators are.
// Contract: thread-safe without locks; allocates under the memory quota only, once for each set of ranks; not called from signal handlers. Called by
// the wrapper bodies: forget() before MPI frees a communicator, since it may then give the handle to another one.
//
// What was translated stays, for messages under way. Communicators of the same ranks share it, so a program may make and free them without end.
#pragma once

#include "libprofile/base/signals_wait.hpp"
#include "libprofile/trace/envelope.hpp"

#include <cstdint>

namespace libprofile::rank_groups {

/// A number of 13 bits. without_ranks: for a reason that is the same on all ranks, or stays for good. missed: for another one. What counts messages or
/// operations of this process must then stop: other ranks may have counted this one, and this process may count the next.
enum Group : std::uint32_t { not_asked, without_ranks, missed, of_world, first_other };
inline constexpr std::uint32_t most_groups = 1024;
inline constexpr std::uint32_t no_rank = UINT32_MAX; // Partners::unknown

/// not_asked: the communicator was not seen yet.
std::uint32_t find(std::uint64_t communicator) noexcept;
void insert(std::uint64_t communicator, std::uint32_t group) noexcept;
/// Waits until no thread is Asking, for a tenth of a second at most.
void forget(std::uint64_t communicator) noexcept;

/// Changes if the communicator is freed, rarely otherwise.
std::uint32_t frees(std::uint64_t communicator) noexcept;

/// A thread asks MPI about a communicator that was there when its frees() were `before`. It may, if they are the same. Signals wait meanwhile:
/// a handler of the program that jumps out would leave all others waiting for it.
class Asking {
  public:
    Asking(std::uint64_t communicator, std::uint32_t before) noexcept;
    ~Asking() noexcept;
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
    bool is_allowed() const { return is_allowed_; }

  private:
    SignalsWait wait_;
    bool is_allowed_;
};

/// The group whose rank i is ranks[i] of MPI_COMM_WORLD (below 0: none); missed if there is no memory, without_ranks if there are most_groups others.
/// `is_remote`: of an inter-communicator.
std::uint32_t group_of(const int* ranks, std::uint32_t size, bool is_remote) noexcept;

/// The rank in MPI_COMM_WORLD of rank `rank` of the group, or no_rank.
std::uint32_t world_rank(std::uint32_t group, int rank) noexcept;

/// What Envelope calls a communicator of the group; no_communicator if its ranks are not known, or it is an inter-communicator.
inline constexpr std::uint32_t no_communicator = UINT32_MAX;
std::uint32_t communicator(std::uint32_t group) noexcept;

/// The same with what else MPI needs to find the message.
Envelope envelope_in(std::uint32_t group, int rank, int tag) noexcept;
inline Envelope envelope(std::uint32_t group, int rank, int tag) noexcept {
    if (group == of_world && rank >= 0) [[likely]] // nothing is fetched
        return {static_cast<std::uint32_t>(rank), 0, tag};
    return envelope_in(group, rank, tag);
}

} // namespace libprofile::rank_groups
