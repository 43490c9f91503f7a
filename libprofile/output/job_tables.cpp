#include "libprofile/output/job_tables.hpp"

#include "libprofile/base/process.hpp"
#include "libprofile/merge/table_exchange.hpp"
#include "libprofile/output/polled_pairs.hpp"
#include "libprofile/output/table_blocks.hpp"
#include "libprofile/output/written_locations.hpp"

#include <new>
#include <sys/prctl.h>
#include <utility>

namespace libprofile {

namespace {

std::uint64_t own_rank() { return static_cast<std::uint64_t>(process.job().rank); }
std::uint64_t rank_count() { return static_cast<std::uint64_t>(process.job().ranks); }

TableMail mail; // until the end of MPI

/// Returns true if other processes of the user may read this one's memory, which MPI needs for large messages. After the program has changed its
/// user they may not, and such messages would never arrive.
bool may_be_read() { return prctl(PR_GET_DUMPABLE) == 1; }

} // namespace

JobTables::JobTables() noexcept : budget_(memory_quota.limit()), words_(budget_), process_(budget_) {}

JobTables::~JobTables() { release(); }

void JobTables::release() noexcept {
    if (reduction_ != nullptr) reduction_->~TableReduction();
    reduction_ = nullptr;
    job_table_ = nullptr;
    process_.forget();
    words_.release();
}

void JobTables::collect() noexcept {
    if (rank_count() == 1) return;
    on_its_own_ = !process_.build();
    layout_ = process_.layout();
    words_.append(PolledPairs::words_per_rank * rank_count());
    ready_ = true;
    if (!on_its_own_) return;
    // This rank still passes on the tables of others. Its map equals no other rank's.
    process_.forget();
    ready_ = process_.table().add_node({});
    layout_.add(own_rank());
}

bool JobTables::unify(PolledCollectives& job) noexcept {
    if (rank_count() == 1) return true;
    bool equal = false, possible = false;
    if (!compare_all(job, equal, possible)) return false;
    if (equal || !possible) return true;
    reduction_ = new (storage_) TableReduction(budget_, own_rank(), std::move(process_.table()), layout_);
    PolledPairs pairs(job, words_);
    if (!TableExchange(pairs, *reduction_, mail, budget_, own_rank(), rank_count()).run()) return false;
    // If a rank lacks a map that others rely on, no rank uses another rank's map.
    std::uint64_t agreed = reduction_->keeps_promises() ? 1 : 0;
    if (!job.min(&agreed, 1)) return false;
    if (reduction_->has_map())
        map_rank_ = static_cast<std::uint32_t>(agreed != 0 ? reduction_->owner() : own_rank());
    else if (reduction_->is_shared() && agreed != 0)
        map_rank_ = static_cast<std::uint32_t>(reduction_->owner());
    if (on_its_own_) map_rank_ = no_rank;
    if (own_rank() == 0 && reduction_->has_map()) job_table_ = &reduction_->table();
    return true;
}

/// The usual case without sampling takes one collective operation and no communicator.
bool JobTables::compare_all(PolledCollectives& job, bool& equal, bool& possible) noexcept {
    const TableSignature table = process_.table().signature();
    const std::uint64_t words[4] = {table.words[0], table.words[1], layout_.words[0], layout_.words[1]};
    std::uint64_t least[9];
    for (int i = 0; i < 4; ++i) {
        least[2 * i] = words[i];
        least[2 * i + 1] = ~words[i];
    }
    least[8] = !ready_ ? 0 : may_be_read() && !words_.is_empty() ? 2 : 1;
    if (!job.min(least, 9)) return false;
    possible = least[8] == 2; // a rank without memory cannot pass on the tables of others
    equal = least[8] != 0;
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

bool JobTables::write(BlockBuffer& buffer) const noexcept {
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
        ok = ok &&
             write_node_map(buffer, map_rank_, thread.index, thread.tree.size() - 1, [&](std::uint64_t i) { return job_node(thread, static_cast<NodeId>(i)); });
    });
    return ok;
}

} // namespace libprofile
