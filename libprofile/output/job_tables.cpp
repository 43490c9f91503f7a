#include "libprofile/output/job_tables.hpp"

#include "libprofile/output/polled_messages.hpp"
#include "libprofile/output/table_blocks.hpp"
#include "libprofile/output/written_locations.hpp"
#include "libprofile/session/clock.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/unify/table_exchange.hpp"

#include <new>
#include <utility>

namespace libprofile {

namespace {

std::uint64_t own_rank() { return static_cast<std::uint64_t>(session.job().rank); }
std::uint64_t rank_count() { return static_cast<std::uint64_t>(session.job().ranks); }

TableMailbox mailbox; // until the end of MPI

} // namespace

JobTables::JobTables() noexcept : budget_(memory_quota.limit()), process_(budget_) {}

JobTables::~JobTables() {
    if (reduction_ != nullptr) reduction_->~TableReduction();
}

bool JobTables::unify(PolledCollectives& job) noexcept {
    if (rank_count() == 1) return true;
    bool equal = false, possible = false;
    if (!unify_all_equal(job, equal, possible)) return false;
    if (equal || !possible) return true;
    reduction_ = new (place_) TableReduction(budget_, own_rank(), std::move(process_.table()), process_.layout());
    std::uint64_t agreed = 0;
    {
        PolledMessages messages(*session.mpi());
        TableExchange exchange(messages, *reduction_, mailbox, budget_, own_rank(), rank_count());
        agreed = exchange.run(Clock::monotonic(), job.timeout_ns()) ? 1 : 0;
    }
    // If a map is missing that others were told to rely on, nobody relies on another rank's.
    if (!job.min(&agreed, 1)) return false;
    if (reduction_->has_map())
        map_rank_ = static_cast<std::uint32_t>(agreed != 0 ? reduction_->owner() : own_rank());
    else if (reduction_->is_shared() && agreed != 0)
        map_rank_ = static_cast<std::uint32_t>(reduction_->owner());
    if (own_rank() == 0 && reduction_->has_map()) job_table_ = &reduction_->table();
    return true;
}

/// The usual case without sampling takes one collective operation, and no communicator.
bool JobTables::unify_all_equal(PolledCollectives& job, bool& equal, bool& possible) noexcept {
    const bool built = process_.build();
    const TableSignature table = process_.table().signature(), layout = process_.layout();
    const std::uint64_t words[4] = {table.words[0], table.words[1], layout.words[0], layout.words[1]};
    std::uint64_t least[9];
    for (int i = 0; i < 4; ++i) {
        least[2 * i] = words[i];
        least[2 * i + 1] = ~words[i];
    }
    least[8] = built ? 1 : 0;
    if (!job.min(least, 9)) return false;
    possible = least[8] != 0; // a rank without memory for its own table cannot pass on those of others
    equal = possible;
    for (int i = 0; i < 4; ++i) equal = equal && least[2 * i] == words[i] && least[2 * i + 1] == ~words[i];
    if (!equal) return true;
    map_rank_ = 0;
    if (own_rank() == 0) job_table_ = &process_.table();
    return true;
}

std::uint32_t JobTables::job_node(const Thread& thread, NodeId node) const noexcept {
    const std::uint32_t own = process_.number_of(thread, node);
    return reduction_ == nullptr ? own : reduction_->job_node(own);
}

bool JobTables::write(ByteBuffer& buffer) const noexcept {
    bool ok = true;
    if (job_table_ != nullptr) {
        const PathTable& table = *job_table_;
        ok = write_modules(buffer, no_rank, table.module_count(), [&](std::uint64_t i) { return table.module(i); }) &&
             write_functions(buffer, no_rank, table.function_count(), [&](std::uint64_t i) { return table.function(i); }) &&
             write_tree(buffer, no_rank, 0, table.size() - 1, [&](std::uint64_t i) {
                 const TableNode& node = table[i];
                 return NodeRecord{i - node.parent, static_cast<std::uint64_t>(node.kind()), node.target(), node.b};
             });
    }
    if (map_rank_ != own_rank()) return ok;
    for_each_location({}, [&](Thread& thread, std::uint64_t) {
        ok = ok && write_node_map(buffer, map_rank_, thread.index, thread.tree.size() - 1,
                                  [&](std::uint64_t i) { return job_node(thread, static_cast<NodeId>(i)); });
    });
    return ok;
}

} // namespace libprofile
