// Partners of messages, as ranks of MPI_COMM_WORLD. Contract: see accounting/all.hpp.
//
// A communicator's ranks are translated when its first message is counted. That is local, but some MPIs compare each rank with all of
// MPI_COMM_WORLD: for large ones it is not done, and the partner is unknown.
#pragma once

#include "libprofile/base/process.hpp"
#include "wrappers/mpi/mpi_h.hpp"
#include "wrappers/mpi/rank_groups.hpp"
#include "wrappers/mpi/request_table.hpp"

#include <optional>

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

/// A communicator is a pointer or an int.
inline std::uint64_t comm_key(MPI_Comm comm) { return (std::uint64_t)comm & request_handle_mask; }

/// The ranks that messages in the communicator come from and go to: of an inter-communicator, its remote group.
inline std::uint32_t translate(MPI_Comm comm) {
    constexpr std::uint64_t most_comparisons = std::uint64_t{1} << 22;
    int is_inter = 0, order = MPI_UNEQUAL, size = 0, world_size = 0;
    if (real.Comm_test_inter(comm, &is_inter) != MPI_SUCCESS) return rank_groups::missed;
    if (!is_inter && (real.Comm_compare(comm, MPI_COMM_WORLD, &order) != MPI_SUCCESS || order == MPI_IDENT || order == MPI_CONGRUENT))
        return order == MPI_UNEQUAL ? rank_groups::missed : rank_groups::of_world;
    if ((is_inter ? real.Comm_remote_size(comm, &size) : real.Comm_size(comm, &size)) != MPI_SUCCESS ||
        real.Comm_size(MPI_COMM_WORLD, &world_size) != MPI_SUCCESS || size <= 0)
        return rank_groups::missed;
    if (static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(world_size) > most_comparisons)
        return is_inter ? rank_groups::missed : rank_groups::without_ranks; // the remote group has another size there
    const std::size_t bytes = 2 * sizeof(int) * static_cast<std::size_t>(size);
    int* const ranks = static_cast<int*>(memory_quota.map(bytes));
    if (ranks == nullptr) return rank_groups::missed;
    int* const in_world = ranks + size;
    for (int i = 0; i < size; ++i) ranks[i] = i;
    std::uint32_t translated = rank_groups::missed;
    MPI_Group group, world;
    if ((is_inter ? real.Comm_remote_group(comm, &group) : real.Comm_group(comm, &group)) == MPI_SUCCESS) {
        if (real.Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
            if (real.Group_translate_ranks(group, size, ranks, world, in_world) == MPI_SUCCESS) {
                for (int i = 0; i < size; ++i)
                    if (in_world[i] == MPI_UNDEFINED) in_world[i] = -1; // a process of another job
                translated = rank_groups::group_of(in_world, static_cast<std::uint32_t>(size), is_inter != 0);
            }
            real.Group_free(&world);
        }
        real.Group_free(&group);
    }
    memory_quota.unmap(ranks, bytes);
    return translated;
}

[[gnu::cold, gnu::noinline]] inline std::uint32_t ask_group(MPI_Comm comm, std::uint32_t frees) {
    if (process.output() != Output::Together) return rank_groups::missed; // MPI_COMM_WORLD may not be asked
    const rank_groups::Asking asking(comm_key(comm), frees);
    if (!asking.is_allowed()) return rank_groups::missed;
    if (const std::uint32_t group = rank_groups::find(comm_key(comm)); group != rank_groups::not_asked) return group; // asked during the call
    const std::uint32_t group = translate(comm);
    rank_groups::insert(comm_key(comm), group);
    return group;
}

/// Whose ranks the partners of a call are. Made before the call: another thread may free the communicator meanwhile, and a handle that is no
/// communicator any more would end the job. Asked for only after a call that succeeded: the program may have made a mistake that it handles itself.
class RanksOfCall {
  public:
    explicit RanksOfCall(MPI_Comm comm) : comm_(comm), known_(rank_groups::find(comm_key(comm))) {
        if (known_ == rank_groups::not_asked) [[unlikely]]
            frees_ = rank_groups::frees(comm_key(comm));
    }

    /// Of a collective operation.
    std::uint32_t asked() const { return known_ != rank_groups::not_asked ? known_ : ask_group(comm_, frees_); }
    /// Of a message.
    std::uint32_t group() const {
        const std::uint32_t group = asked();
        if (group == rank_groups::missed) [[unlikely]]
            MpiEvent::miss_message();
        return group;
    }
    Envelope envelope(int rank, int tag) const { return rank_groups::envelope(group(), rank, tag); }

  private:
    MPI_Comm comm_;
    std::uint32_t known_;
    std::uint32_t frees_ = 0; // of a communicator that is not known
};

/// A collective operation: all ranks of the communicator call it, in the same order.
class Collective {
  public:
    Collective(const MpiEvent& event, MPI_Comm comm) {
        if (event.keeps_events()) ranks_.emplace(comm);
    }
    void finish(MpiEvent& event, int mpi_result) const {
        if (event.counted() && mpi_result == MPI_SUCCESS) {
            if (!ranks_) return;
            const std::uint32_t group = ranks_->asked(), communicator = rank_groups::communicator(group);
            if (communicator != rank_groups::no_communicator) event.collective(communicator);
            if (group == rank_groups::missed) MpiEvent::miss_collective();
        } else if (event.follows_requests()) {
            MpiEvent::miss_collective();
        }
    }

  private:
    std::optional<RanksOfCall> ranks_;
};

/// MPI frees a communicator: from then on, another one may have its handle.
class ForgetComm {
  public:
    ForgetComm(const MpiEvent&, const MPI_Comm* comm) {
        if (comm != nullptr) rank_groups::forget(comm_key(*comm));
    }
    void finish(MpiEvent&, int) const {}
};

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
