#include "tools/timeseries/trace_entries.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace libprofile::tools {

namespace {

std::uint32_t activations(std::uint32_t depth, LcaKind kind) { return kind == LcaKind::Unknown ? all_activations : depth; }

class Merge {
  public:
    explicit Merge(const Contexts& contexts) : contexts_(&contexts) {}

    void add(const TraceSample& sample) {
        const std::uint32_t common = after_wait_ ? *after_wait_ : activations(sample.lca_depth, sample.lca_kind);
        add({static_cast<double>(sample.time_ns), static_cast<double>(sample.time_ns), sample.path, common, false});
        after_wait_.reset();
    }
    void add(const TraceWait& wait) {
        const CallPath& path = contexts_->profile().paths[wait.path];
        if (path.kind == NodeKind::OpenMp && path.parent == 0) return;
        const bool is_in_chain = wait.lca_kind != LcaKind::Unknown || wait.after_kind != LcaKind::Unknown;
        double begin = static_cast<double>(wait.begin_ns);
        const double end = static_cast<double>(wait.end_ns);
        if (!entries_.empty()) begin = std::max(begin, entries_.back().end); // a clock that went back
        add({begin, std::max(begin, end), wait.path, activations(wait.lca_depth, wait.lca_kind), true});
        if (is_in_chain) after_wait_ = activations(wait.after_depth, wait.after_kind);
    }
    /// The sample hit in the wait that comes next.
    void leave_out(const TraceSample& sample) {
        left_ = std::min(left_, after_wait_ ? *after_wait_ : activations(sample.lca_depth, sample.lca_kind));
        after_wait_.reset();
    }
    std::vector<TraceEntry> take() { return std::move(entries_); }

  private:
    void add(TraceEntry entry) {
        const bool is_partial = contexts_->is_partial(entry.path);
        // What is known of the first after a partial one is what it has in common with that.
        entry.activations = std::min(std::exchange(left_, all_activations), is_after_partial_ ? all_activations : entry.activations);
        is_after_partial_ = is_partial;
        if (!is_partial) entries_.push_back(entry);
    }

    const Contexts* contexts_;
    std::vector<TraceEntry> entries_;
    std::optional<std::uint32_t> after_wait_; // with the next sample, if a wait was before it
    std::uint32_t left_ = all_activations;    // of samples that were left out
    bool is_after_partial_ = false;
};

} // namespace

std::vector<TraceEntry> trace_entries(const Trace& trace, const Contexts& contexts) {
    Merge merge(contexts);
    auto wait = trace.waits.begin();
    for (const TraceSample& sample : trace.samples) {
        for (; wait != trace.waits.end() && wait->end_ns <= sample.time_ns; ++wait) merge.add(*wait);
        if (wait != trace.waits.end() && wait->begin_ns < sample.time_ns)
            merge.leave_out(sample);
        else
            merge.add(sample);
    }
    for (; wait != trace.waits.end(); ++wait) merge.add(*wait);
    return merge.take();
}

} // namespace libprofile::tools
