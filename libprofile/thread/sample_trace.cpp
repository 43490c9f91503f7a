#include "libprofile/thread/sample_trace.hpp"

namespace libprofile {

bool SampleTrace::start(Arena& arena, std::uint64_t limit) noexcept {
    // An even number: then the sample after the last of a full trace is one that the doubled stride keeps.
    capacity_ = static_cast<std::size_t>(limit / sizeof(Entry)) & ~std::size_t{1};
    if (capacity_ < 2 || entries_.append(arena) == nullptr) return false;
    arena_ = &arena;
    return true;
}

std::uint32_t SampleTrace::weaker(std::uint32_t a, std::uint32_t b) noexcept {
    const std::uint32_t depth = (a >> 2) < (b >> 2) ? a >> 2 : b >> 2;
    const std::uint32_t kind = (a & 3u) < (b & 3u) ? a & 3u : b & 3u;
    return depth << 2 | kind;
}

/// Keeps the samples 0, 2, 4, ... of an even number of samples.
void SampleTrace::thin_out() noexcept {
    for (std::size_t i = 1; 2 * i < size_; ++i) {
        Entry kept = entries_[2 * i];
        kept.lca = weaker(kept.lca, entries_[2 * i - 1].lca);
        entries_[i] = kept;
    }
    left_out_ = weaker(left_out_, entries_[size_ - 1].lca);
    size_ /= 2;
    stride_ *= 2;
}

void SampleTrace::add(std::uint64_t time_ns, NodeId node, std::uint32_t lca_depth, LcaKind kind) noexcept {
    if (arena_ == nullptr) return;
    const std::uint64_t number = added_++;
    const std::uint32_t depth = lca_depth < deepest ? lca_depth : deepest;
    const std::uint32_t lca = number == 0 ? 0 : depth << 2 | static_cast<std::uint32_t>(kind);
    if ((number & (stride_ - 1)) != 0) { // strides are powers of two
        left_out_ = weaker(left_out_, lca);
        return;
    }
    if (size_ == entries_.size() && (size_ == capacity_ || entries_.append(*arena_) == nullptr)) {
        capacity_ = size_; // after memory ran out: a whole number of chunks, so even
        thin_out();
    }
    Entry& entry = entries_[size_++];
    entry.time_ns = time_ns;
    entry.node = node;
    entry.lca = number == 0 ? lca : weaker(lca, left_out_);
    left_out_ = nothing_left_out;
}

void write_trace(Encoder& encoder, std::uint32_t thread, const SampleTrace& trace) noexcept {
    TraceRecord record;
    record.thread = thread;
    record.samples = trace.size();
    record.stride = trace.stride();
    record.dropped = trace.dropped();
    describe(encoder, record);
    std::uint64_t time = 0;
    std::uint64_t node = 0;
    for (std::size_t i = 0; i < trace.size(); ++i) {
        const SampleTrace::Entry& entry = trace[i];
        TraceSampleRecord sample;
        sample.time_difference = static_cast<std::int64_t>(entry.time_ns - time);
        sample.node_difference = static_cast<std::int64_t>(std::uint64_t{entry.node} - node);
        sample.lca = entry.lca;
        describe(encoder, sample);
        time = entry.time_ns;
        node = entry.node;
    }
}

} // namespace libprofile
