// The samples of one thread in the order of time: when, on which call path, and how much of that path is still that of the sample before.
// Contract: belongs to one thread, used with that thread's in-tool flag set or after its end; add() is async-signal-safe;
// memory comes from the thread's arena as it is needed, never more than the limit.
//
// A trace always covers the whole run. When it is full, every second sample is dropped, and from then on only every second is kept: the stride
// doubles. Sample number n (from 0) is in the trace if n is a multiple of the stride. The same happens when the memory quota is used up before the
// limit is reached.
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
        std::uint64_t time_ns = 0;
        NodeId node = 0;
        std::uint32_t lca = 0; // depth * 4 + kind

        std::uint32_t depth() const { return lca >> 2; }
        LcaKind kind() const { return static_cast<LcaKind>(lca & 3u); }
    };
    static constexpr std::uint64_t default_limit = std::uint64_t{1} << 20; // bytes

    /// Switches the trace on. Returns false if memory is short; then add() does nothing.
    bool start(Arena& arena, std::uint64_t limit = default_limit) noexcept;
    bool is_on() const { return arena_ != nullptr; }

    /// @param time_ns   of the session's clock
    /// @param node      the sample's call path
    /// @param lca_depth how many of its frames, from the outermost, belong to activations that the previous sample was in, too. Counts the nodes of
    /// the call path below the root: trimmed outer frames do not count, "(partial)" counts as one. If samples are dropped, the least
    /// depth and the weakest kind stay: a frame that was left in between is no longer common.
    /// @param kind      how certain that is. The first sample has depth 0 and kind Unknown.
    void add(std::uint64_t time_ns, NodeId node, std::uint32_t lca_depth, LcaKind kind) noexcept;

    std::size_t size() const { return size_; }
    const Entry& operator[](std::size_t i) const { return entries_[i]; }
    std::uint64_t stride() const { return stride_; }
    /// Samples that were added but are not in the trace.
    std::uint64_t dropped() const { return added_ - size_; }

  private:
    static constexpr std::uint32_t deepest = 0x3fffffff;
    static constexpr std::uint32_t nothing_left_out = deepest << 2 | static_cast<std::uint32_t>(LcaKind::Exact);

    static std::uint32_t weaker(std::uint32_t a, std::uint32_t b) noexcept;
    void thin_out() noexcept;

    Arena* arena_ = nullptr;
    StableArray<Entry, 8> entries_; // grows only; the first size_ are in the trace
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::uint64_t stride_ = 1;
    std::uint64_t added_ = 0;
    std::uint32_t left_out_ = nothing_left_out; // of the samples dropped since the last one kept
};

/// Writes the payload of a Trace block.
void write_trace(Encoder& encoder, std::uint32_t thread, const SampleTrace& trace) noexcept;

} // namespace libprofile
