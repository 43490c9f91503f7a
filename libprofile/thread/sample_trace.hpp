// The samples of one thread in the order of time: when, on which call path, and how much of that path is still that of the sample before. With them its
// waits: calls of MPI and waits of OpenMP that took longer than samples are apart, with begin and end.
// Contract: belongs to one thread, used with that thread's in-tool flag set or after its end; add() and add_wait() are async-signal-safe;
// memory comes from the thread's arena as it is needed, never more than the limit for both.
//
// A trace always covers the whole run. When it is full, every second sample is dropped, and from then on only every second is kept: the stride
// doubles. Sample number n (from 0) is in the trace if n is a multiple of the stride. Waits stay if they are longer than the strides of samples are
// apart, so there is at most one in such a time. A thread that sleeps much has few samples: if waits take most of the room, the shorter half of them is
// dropped instead, and from then on no shorter one is kept. The same happens when the memory quota is used up before the limit is reached.
//
// Samples and waits are entries of one chain, a wait at its end. Each has its common ancestor with the entry before. That of two samples with waits in
// between is the outermost on the way.
//
// Source of the least common ancestor as part of a sample: Lai Wei and John Mellor-Crummey, "Automated Analysis of Time Series Data to Understand Parallel
// Program Behaviors", ICS 2018, section 3.1.
#pragma once

#include "format/trace.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/callpath/call_tree.hpp"

#include <cstdint>

namespace libprofile {

class SampleTrace {
  public:
    struct Entry {
        std::uint64_t time_ns = 0; // of a wait: its end
        NodeId node = 0;
        std::uint32_t lca = 0; // depth * 4 + kind

        std::uint32_t depth() const { return lca >> 2; }
        LcaKind kind() const { return static_cast<LcaKind>(lca & 3u); }
        /// It is no entry, but tells when the wait that is the next one has begun.
        bool is_begin() const { return lca == begin_of_wait; }
        /// It says nothing of activations: the entry after it has its common ancestor with the one before.
        bool is_apart() const { return lca == apart; }
    };
    static constexpr std::uint64_t default_limit = std::uint64_t{1} << 20; // bytes

    /// Switches the trace on. Returns false if memory is short; then nothing is kept.
    bool start(Arena& arena, std::uint64_t limit = default_limit) noexcept;
    bool is_on() const { return arena_ != nullptr; }

    /// @param time_ns   of the session's clock
    /// @param node      the sample's call path
    /// @param lca_depth how many of its frames, from the outermost, belong to activations that the entry before was in, too. Counts the nodes of
    /// the call path below the root: trimmed outer frames do not count, "(partial)" counts as one. If entries are dropped, the least
    /// depth and the weakest kind stay: a frame that was left in between is no longer common.
    /// @param kind      how certain that is. The first sample has depth 0 and kind Unknown.
    void add(std::uint64_t time_ns, NodeId node, std::uint32_t lca_depth, LcaKind kind) noexcept;

    /// Whether a wait of `ns` is to be kept, samples being `period` ns apart now. 0: there are no samples, so no wait is kept. Counts those that are
    /// not. To be asked for each, since the chain must not have an entry that is not added.
    bool is_long(std::uint64_t ns, std::uint64_t period) noexcept;
    /// After is_long(). The thread waited in `node` from `begin` to `end`.
    void add_wait(std::uint64_t begin, std::uint64_t end, NodeId node, std::uint32_t lca_depth, LcaKind kind) noexcept;
    /// The same where nobody asked for the common ancestor: the wait is apart from the chain.
    void add_wait_apart(std::uint64_t begin, std::uint64_t end, NodeId node) noexcept { append_wait(begin, end, node, apart); }

    /// Entries, and the begins of waits: the samples and waits that are there.
    std::size_t size() const { return size_; }
    const Entry& operator[](std::size_t i) const { return entries_[i]; }
    std::uint64_t stride() const { return stride_; }
    std::uint64_t waits() const { return waits_; }
    std::uint64_t samples() const { return size_ - 2 * waits_; }
    /// Samples that were added but are not in the trace.
    std::uint64_t dropped() const { return added_ - samples(); }
    /// Waits that were asked for but are not in the trace, and the longest of them.
    std::uint64_t dropped_waits() const { return dropped_waits_; }
    std::uint64_t longest_dropped() const { return longest_dropped_; }

    /// The common ancestor of `a` and `c`, if `a` is that of `a` and `b`, and `c` that of `b` and `c`.
    static std::uint32_t weaker(std::uint32_t a, std::uint32_t b) noexcept;
    static constexpr std::uint32_t deepest = 0x3fffffff;
    static constexpr std::uint32_t nothing_left_out = deepest << 2 | static_cast<std::uint32_t>(LcaKind::Exact);

  private:
    static constexpr std::uint32_t begin_of_wait = 3; // no kind of an ancestor
    static constexpr std::uint32_t apart = 7;

    void leave_out(std::uint32_t lca) noexcept { left_out_ = weaker(left_out_, lca); }
    void drop_wait(std::uint64_t ns) noexcept;
    void append(std::uint64_t time_ns, NodeId node, std::uint32_t lca) noexcept;
    void append_wait(std::uint64_t begin, std::uint64_t end, NodeId node, std::uint32_t lca) noexcept;
    std::uint64_t least_wait() const noexcept { return shortest_ > stride_ * period_ ? shortest_ : stride_ * period_; }
    std::uint64_t middle_of_waits() const noexcept;
    bool has_room(std::size_t entries) noexcept;
    void thin_out() noexcept;

    Arena* arena_ = nullptr;
    StableArray<Entry, 8> entries_; // grows only; the first size_ are in the trace
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::uint64_t stride_ = 1;
    std::uint64_t added_ = 0;
    std::uint32_t left_out_ = nothing_left_out; // of the entries dropped since the last one kept
    std::uint64_t waits_ = 0;
    std::uint64_t period_ = 0;   // of the last question
    std::uint64_t shortest_ = 0; // no wait that is not longer is kept, whatever the stride
    std::uint64_t dropped_waits_ = 0;
    std::uint64_t longest_dropped_ = 0;
};

/// Writes the payload of a Trace block.
void write_trace(Encoder& encoder, std::uint32_t thread, const SampleTrace& trace) noexcept;
/// Writes the payload of a Waits block.
void write_waits(Encoder& encoder, std::uint32_t thread, const SampleTrace& trace) noexcept;

} // namespace libprofile
