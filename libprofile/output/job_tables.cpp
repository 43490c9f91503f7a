#include "libprofile/output/job_tables.hpp"

#include "libprofile/output/polled_messages.hpp"
#include "libprofile/output/table_blocks.hpp"
#include "libprofile/output/written_locations.hpp"
#include "libprofile/session/clock.hpp"
#include "libprofile/session/session.hpp"

#include <bit>
#include <new>
#include <utility>

namespace libprofile {

namespace {

enum Tag : int { OfferTag = 1, AnswerTag, TableTag, ReplyTag, MapTag };

std::uint64_t own_rank() { return static_cast<std::uint64_t>(session.job().rank); }
std::uint64_t rank_count() { return static_cast<std::uint64_t>(session.job().ranks); }

constexpr unsigned most_levels = TableReduction::most_children;

/// What passes between a rank and its child of a level; the last one is for the parent. Of a message that did not get through in time MPI
/// may use the place later, so each has its own.
struct Mail {
    TableOffer offer;
    TableAnswer answer = TableAnswer::Refused;
    TableReply reply;
};
Mail mail[most_levels + 1];

unsigned level_of(std::uint64_t child) { return static_cast<unsigned>(std::countr_zero(child)); }

bool receive_array(PolledMessages& messages, PageArray<unsigned char>& bytes, std::uint64_t size, std::uint64_t from, int tag,
                   std::uint64_t until) {
    if (size > PolledMessages::most || bytes.append(size) == nullptr) return false;
    if (messages.receive(bytes.data(), size, from, tag, until)) return true;
    bytes.leave();
    return false;
}

bool send_array(PolledMessages& messages, PageArray<unsigned char>& bytes, std::uint64_t to, int tag, std::uint64_t until) {
    if (messages.send(bytes.data(), bytes.size(), to, tag, until)) return true;
    bytes.leave();
    return false;
}

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
    const bool keeps_promises = reduce_along_tree(*session.mpi(), job.timeout_ns());
    // If a map is missing that others were told to rely on, nobody relies on another rank's.
    std::uint64_t agreed = keeps_promises && !reduction_->broke_promise() ? 1 : 0;
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

/// A binomial tree: the children of a rank are those that differ in one bit below its lowest one.
bool JobTables::reduce_along_tree(const MpiServices& mpi, std::uint64_t timeout_ns) noexcept {
    const std::uint64_t begin = Clock::monotonic(), last = begin + timeout_ns;
    const auto levels = static_cast<std::uint64_t>(std::bit_width(rank_count() - 1));
    // Who waits for a rank that waits for another one in vain must have more patience.
    const auto until = [&](unsigned level) { return begin + timeout_ns / (levels + 3) * (level + 2); };
    PolledMessages messages(mpi);
    unsigned level = 0;
    for (; level < levels && (own_rank() >> level & 1) == 0; ++level)
        if (const std::uint64_t child = own_rank() + (std::uint64_t{1} << level); child < rank_count())
            take_in(messages, child, level, until(level));
    bool keeps_promises = true;
    if (own_rank() == 0)
        reduction_->lead();
    else
        keeps_promises = offer_to(messages, own_rank() & (own_rank() - 1), until(level + 1), last);
    reply(messages, last);
    return keeps_promises;
}

void JobTables::take_in(PolledMessages& messages, std::uint64_t child, unsigned level, std::uint64_t until) noexcept {
    auto& [offer, answer, reply] = mail[level];
    if (!messages.receive(&offer, sizeof offer, child, OfferTag, until)) return;
    answer = offer.bytes > PolledMessages::most ? TableAnswer::Refused : reduction_->consider(child, offer);
    if (!messages.send(&answer, sizeof answer, child, AnswerTag, until) || answer != TableAnswer::Send) return;
    PageArray<unsigned char> bytes(budget_);
    if (receive_array(messages, bytes, offer.bytes, child, TableTag, until)) reduction_->take(std::move(bytes));
}

bool JobTables::offer_to(PolledMessages& messages, std::uint64_t parent, std::uint64_t until, std::uint64_t last) noexcept {
    auto& [offer, answer, reply] = mail[most_levels];
    offer = reduction_->offer();
    PageArray<unsigned char> bytes(budget_);
    if (!bytes.reserve(offer.bytes)) offer.bytes = ~std::uint64_t{0}; // it will be refused
    if (!messages.send(&offer, sizeof offer, parent, OfferTag, until) ||
        !messages.receive(&answer, sizeof answer, parent, AnswerTag, until))
        return false;
    if (answer == TableAnswer::Refused) return true;
    if (answer == TableAnswer::Send &&
        (!reduction_->encode(bytes) || !send_array(messages, bytes, parent, TableTag, until)))
        return false;
    bytes.release();
    reduction_->release_table();
    if (!messages.receive(&reply, sizeof reply, parent, ReplyTag, last)) return false;
    if (reply.kind == TableReply::Map && !receive_array(messages, bytes, reply.bytes, parent, MapTag, last)) return false;
    reduction_->receive(reply, std::move(bytes));
    return reply.kind == TableReply::None || reduction_->has_map() || reduction_->is_shared();
}

void JobTables::reply(PolledMessages& messages, std::uint64_t last) noexcept {
    reduction_->reply_to_children([&](std::uint64_t child, const TableReply& what, PageArray<unsigned char>& map) {
        TableReply& sent = mail[level_of(child)].reply;
        sent = what;
        if (messages.send(&sent, sizeof sent, child, ReplyTag, last) && what.kind == TableReply::Map)
            send_array(messages, map, child, MapTag, last);
    });
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
