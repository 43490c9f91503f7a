#include "libprofile/thread/sample_trace.hpp"

namespace libprofile {

bool SampleTrace::start(Arena& arena, std::uint64_t limit) noexcept {
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

void SampleTrace::drop_wait(std::uint64_t ns) noexcept {
    ++dropped_waits_;
    if (ns > longest_dropped_) longest_dropped_ = ns;
}

/// A duration that at most half of the waits exceed, and hardly less than that.
std::uint64_t SampleTrace::middle_of_waits() const noexcept {
    std::uint64_t low = 0, high = 0;
    for (std::size_t i = 0; i < size_; ++i) {
        if (!entries_[i].is_begin()) continue;
        const std::uint64_t ns = entries_[i + 1].time_ns - entries_[i].time_ns;
        if (ns > high) high = ns;
    }
    constexpr int steps = 24; // each looks at all waits
    for (int step = 0; step < steps && high - low > 1; ++step) {
        const std::uint64_t middle = low + (high - low) / 2;
        std::uint64_t longer = 0;
        for (std::size_t i = 0; i < size_; ++i)
            if (entries_[i].is_begin() && entries_[i + 1].time_ns - entries_[i].time_ns > middle) ++longer;
        (2 * longer <= waits_ ? high : low) = middle;
    }
    return high;
}

/// Keeps the samples 0, 2, 4, ... and the waits that are long for that; or the longer half of the waits, if there are more of them.
void SampleTrace::thin_out() noexcept {
    const bool only_waits = 4 * waits_ > size_;
    if (only_waits)
        shortest_ = middle_of_waits();
    else
        stride_ *= 2;
    std::uint32_t left_out = nothing_left_out;
    std::size_t kept = 0, samples = 0;
    const std::uint64_t least = least_wait();
    for (std::size_t i = 0; i < size_; ++i) {
        const Entry begin = entries_[i];
        const bool is_wait = begin.is_begin();
        Entry entry = is_wait ? entries_[++i] : begin;
        bool stays = false;
        if (!is_wait)
            stays = only_waits || samples++ % 2 == 0;
        else if (!(stays = entry.time_ns - begin.time_ns > least)) {
            drop_wait(entry.time_ns - begin.time_ns);
            --waits_;
        }
        if (!entry.is_apart()) {
            entry.lca = weaker(entry.lca, left_out);
            left_out = stays ? nothing_left_out : entry.lca;
        }
        if (!stays) continue;
        if (is_wait) entries_[kept++] = begin;
        entries_[kept++] = entry;
    }
    size_ = kept;
    leave_out(left_out);
}

/// Room for so many more, perhaps with a longer stride.
bool SampleTrace::has_room(std::size_t entries) noexcept {
    while (size_ + entries > entries_.size()) {
        if (entries_.size() < capacity_ && entries_.append(*arena_) != nullptr) continue;
        capacity_ = entries_.size();
        const std::size_t before = size_;
        thin_out();
        if (size_ == before) return false;
    }
    return true;
}

void SampleTrace::append(std::uint64_t time_ns, NodeId node, std::uint32_t lca) noexcept {
    Entry& entry = entries_[size_++];
    entry.time_ns = time_ns;
    entry.node = node;
    entry.lca = lca;
}

void SampleTrace::add(std::uint64_t time_ns, NodeId node, std::uint32_t lca_depth, LcaKind kind) noexcept {
    if (arena_ == nullptr) return;
    const std::uint64_t number = added_++;
    const std::uint32_t depth = lca_depth < deepest ? lca_depth : deepest;
    const std::uint32_t lca = number == 0 ? 0 : depth << 2 | static_cast<std::uint32_t>(kind);
    const auto is_left_out = [&] { return (number & (stride_ - 1)) != 0; }; // strides are powers of two
    if (is_left_out() || !has_room(1) || is_left_out()) return leave_out(lca);
    append(time_ns, node, weaker(lca, left_out_));
    left_out_ = nothing_left_out;
}

bool SampleTrace::is_long(std::uint64_t ns, std::uint64_t period) noexcept {
    if (arena_ == nullptr || period == 0) return false;
    period_ = period;
    if (ns > least_wait()) return true;
    drop_wait(ns);
    return false;
}

void SampleTrace::append_wait(std::uint64_t begin, std::uint64_t end, NodeId node, std::uint32_t lca) noexcept {
    const bool is_apart = lca == apart;
    if (!has_room(2) || end - begin <= least_wait()) {
        drop_wait(end - begin);
        if (!is_apart) leave_out(lca);
        return;
    }
    append(begin, node, begin_of_wait);
    append(end, node, is_apart ? apart : weaker(lca, left_out_));
    if (!is_apart) left_out_ = nothing_left_out;
    ++waits_;
}

void SampleTrace::add_wait(std::uint64_t begin, std::uint64_t end, NodeId node, std::uint32_t lca_depth, LcaKind kind) noexcept {
    const std::uint32_t depth = lca_depth < deepest ? lca_depth : deepest;
    append_wait(begin, end, node, depth << 2 | static_cast<std::uint32_t>(kind));
}

void write_trace(Encoder& encoder, std::uint32_t thread, const SampleTrace& trace) noexcept {
    TraceRecord record;
    record.thread = thread;
    record.samples = trace.samples();
    record.stride = trace.stride();
    record.dropped = trace.dropped();
    describe(encoder, record);
    std::uint64_t time = 0;
    std::uint64_t node = 0;
    std::uint32_t in_waits = SampleTrace::nothing_left_out; // since the sample before
    for (std::size_t i = 0; i < trace.size(); ++i) {
        const SampleTrace::Entry* entry = &trace[i];
        if (entry->is_begin()) {
            entry = &trace[++i];
            if (!entry->is_apart()) in_waits = SampleTrace::weaker(in_waits, entry->lca);
            continue;
        }
        TraceSampleRecord sample;
        sample.time_difference = static_cast<std::int64_t>(entry->time_ns - time);
        sample.node_difference = static_cast<std::int64_t>(std::uint64_t{entry->node} - node);
        sample.lca = SampleTrace::weaker(entry->lca, in_waits);
        describe(encoder, sample);
        time = entry->time_ns;
        node = entry->node;
        in_waits = SampleTrace::nothing_left_out;
    }
}

namespace {

/// The common ancestor of a wait of the chain and the next entry of the chain, if there is one. `next`: the position after the wait.
std::uint32_t ancestor_after(const SampleTrace& trace, std::size_t next) noexcept {
    for (; next < trace.size(); ++next)
        if (!trace[next].is_begin() && !trace[next].is_apart()) return trace[next].lca;
    return 0;
}

} // namespace

void write_waits(Encoder& encoder, std::uint32_t thread, const SampleTrace& trace) noexcept {
    WaitsRecord record;
    record.thread = thread;
    record.waits = trace.waits();
    record.dropped = trace.dropped_waits();
    record.longest_dropped_ns = trace.longest_dropped();
    describe(encoder, record);
    std::uint64_t time = 0;
    std::uint64_t node = 0;
    for (std::size_t i = 0; i < trace.size(); ++i) {
        if (!trace[i].is_begin()) continue;
        const std::uint64_t begin = trace[i].time_ns;
        const SampleTrace::Entry& entry = trace[++i];
        WaitRecord wait;
        wait.begin_difference = static_cast<std::int64_t>(begin - time);
        wait.duration = entry.time_ns - begin;
        wait.node_difference = static_cast<std::int64_t>(std::uint64_t{entry.node} - node);
        if (!entry.is_apart()) {
            wait.lca = entry.lca;
            wait.lca_after = ancestor_after(trace, i + 1);
        }
        describe(encoder, wait);
        time = entry.time_ns;
        node = entry.node;
    }
}

} // namespace libprofile
