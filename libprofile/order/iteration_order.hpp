// In which order the events of a thread's iterations come: what its open iterations have had so far, and the sequences of those that are over.
// Contract: belongs to one thread's phase stack, used with its in-tool flag set; add() and end() are async-signal-safe; nothing throws; memory from the
// thread's arena and pool. It is there only with LIBPROFILE_ORDER. An event costs a few ns, the end of an iteration 3 ns for each of its events.
//
// An event counts in the innermost iteration that is open when it ends. An iteration inside another one is a single event of that.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/order/sequence_numbers.hpp"
#include "libprofile/order/sequence_table.hpp"

#include <cstdint>

namespace libprofile {

/// What a phase of iterations keeps.
struct PhaseOrder {
    SequenceTable sequences;
    SequenceNumbers numbers;
    std::uint64_t unnumbered = 0; // iterations that were followed, but there was no room for another hash
    std::uint32_t ended = 0;      // the number of the sequence that came last, until append()
};

class IterationOrder {
  public:
    /// Makes one. `is_running` must stay: it says whether events are wanted, that is whether an iteration is open. Returns nullptr if memory is short.
    static IterationOrder* create(bool& is_running, std::uint64_t limit, const CallTree& tree, Arena& arena, Pool& pool) noexcept;

    /// An event of `node` has ended; it began at `begin` and took `length` ns. Only while is_running.
    void add(NodeId node, std::uint64_t begin, std::uint64_t length) noexcept { add(node, (*tree_)[node], begin, length); }
    /// The same for a caller that has the node.
    void add(NodeId id, const Node& node, std::uint64_t begin, std::uint64_t length) noexcept {
        current_->hash().add(node.path_hash);
        current_->add(OrderKey::of_event(id), begin, length);
    }
    /// An event that others may lie in has begun. Only while is_running.
    void add_begin(NodeId node) noexcept { current_->hash().add_begin((*tree_)[node].path_hash); }

    /// Iterations that begin from now on are cut out of a log: which events they had is not known, until follow(true).
    void follow(bool follows) noexcept { follows_ = follows; }
    /// An iteration of a phase begins inside those that are open. `order`: what the phase keeps, nullptr until its first iteration.
    void begin(PhaseOrder*& order, std::uint64_t now) noexcept;
    /// The innermost one is over; `hash` and `phase` are those of its phase.
    void end(std::uint64_t hash, std::uint32_t phase, std::uint64_t now) noexcept;
    /// The iteration of a phase that has ended last has this number, from 0 on. There may have been no memory for those before.
    void append(PhaseOrder& order, std::uint64_t iteration) noexcept {
        while (order.numbers.size() < iteration && order.numbers.append(0, memory_, *pool_)) {
        }
        order.numbers.append(order.ended, memory_, *pool_);
        order.ended = 0;
    }
    std::uint64_t memory() const { return memory_.used(); }

  private:
    IterationOrder(bool& is_running, std::uint64_t limit, const CallTree& tree, Arena& arena, Pool& pool)
        : tree_(&tree), is_running_(&is_running), arena_(&arena), pool_(&pool), memory_(limit) {}
    void go_to(std::uint32_t depth) noexcept;

    static constexpr std::uint32_t most_levels = 64; // as many phases can be open
    struct Level {
        EventBuffer* events = nullptr; // of all iterations here; nullptr until the first, or if memory is short
        PhaseOrder* order = nullptr;
        std::uint64_t began_at = 0;
        bool is_known = false; // all of its events are
    };
    EventBuffer* current_ = nullptr; // of the innermost open iteration; a spare one if it has none
    const CallTree* tree_;
    bool* is_running_;
    Arena* arena_;
    Pool* pool_;
    bool follows_ = true;
    std::uint32_t depth_ = 0;
    OrderMemory memory_;
    Level levels_[most_levels];
};

} // namespace libprofile
