// Cost of the runtime's parts: unwinding and finding a call path (per MPI call and per sample) and closing an iteration
// (per iteration and call path). ns per operation; "per_frame" and "per_path" are the units of docs/overhead-measurements.md.

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/callpath/frame_walk.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/path_tracker.hpp"
#include "libprofile/callpath/recipe_table.hpp"
#include "libprofile/callpath/stack_memory.hpp"
#include "libprofile/callpath/unwind_info.hpp"
#include "libprofile/callpath/unwinder.hpp"
#include "libprofile/clustering/clusterer.hpp"
#include "libprofile/output/journal.hpp"
#include "libprofile/output/live_file.hpp"
#include "libprofile/phases/phase_stack.hpp"
#include "libprofile/thread/thread.hpp"

#include <array>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <random>
#include <ucontext.h>
#include <vector>

namespace libprofile {
namespace {

struct Stack {
    Arena arena;
    CallTree tree{arena};
    PathTracker tracker{tree, arena};
    Stack() {
        tree.start();
        remember_main_stack();
        process_state.marks.store(MarksChoice::On);
        tracker.ready();
    }
    ~Stack() { tracker.forget(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))); }
};

/// Runs the benchmark loop below `depth` frames of its own.
template <class Loop> [[gnu::noinline]] int below(std::int64_t depth, Loop& loop) {
    const int result = depth == 0 ? loop() : below(depth - 1, loop) + 1;
    asm volatile("" ::: "memory"); // no tail call
    return result;
}

/// The walk alone, without nodes and marks. per_frame: ns.
void bare_walk(benchmark::State& state) {
    remember_main_stack();
    static RawPath path;
    auto loop = [&] {
        const InTool guard;
        const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        const auto* words = reinterpret_cast<const std::uintptr_t*>(frame);
        for (auto _ : state) {
            walk_stack({words[1] - 1, frame + 8, frame + 16, words[0], frame, 0}, 0, path);
            benchmark::DoNotOptimize(path.size);
        }
        return 0;
    };
    below(state.range(0), loop);
    const auto frames = static_cast<double>(path.size);
    state.counters["frames"] = frames;
    state.counters["per_frame"] =
        benchmark::Counter(frames * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(bare_walk)->Arg(5)->Arg(30)->Arg(100);

/// A walk over the whole stack, its nodes and a new mark, nothing being known. per_frame: ns.
void whole_walk(benchmark::State& state) {
    Stack stack;
    auto loop = [&] {
        const InTool guard;
        for (auto _ : state) {
            stack.tracker.forget(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
            benchmark::DoNotOptimize(stack.tracker.at_call(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))));
        }
        return 0;
    };
    below(state.range(0), loop);
    const auto frames = static_cast<double>(stack.tracker.size());
    state.counters["frames"] = frames;
    state.counters["per_frame"] =
        benchmark::Counter(frames * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(whole_walk)->Arg(5)->Arg(30)->Arg(100);

/// The same by libunwind, addresses only.
void whole_unwind_by_libunwind(benchmark::State& state) {
    static RawPath path;
    auto loop = [&] {
        const InTool guard;
        for (auto _ : state) {
            unwinder.here(__builtin_return_address(0), path);
            benchmark::DoNotOptimize(path.size);
        }
        return 0;
    };
    below(state.range(0), loop);
    state.counters["frames"] = static_cast<double>(path.size);
}
BENCHMARK(whole_unwind_by_libunwind)->Arg(5)->Arg(30)->Arg(100);

/// A sample under a mark that stands: its walk, its node, and the new mark; without the signal.
void call_path_of_sample(benchmark::State& state) {
    Stack stack;
    auto loop = [&] {
        const InTool guard;
        for (auto _ : state) {
            ucontext_t context;
            getcontext(&context);
            benchmark::DoNotOptimize(stack.tracker.at_sample(&context));
        }
        return 0;
    };
    below(state.range(0), loop);
    state.counters["frames"] = static_cast<double>(stack.tracker.size());
}
BENCHMARK(call_path_of_sample)->Arg(5)->Arg(30)->Arg(100);

/// Everything between the end marker of an iteration and the next begin: condensed vector, signature, clustering.
/// Arguments: event call paths of an iteration, K.
void iteration_end(benchmark::State& state) {
    Arena arena;
    Pool pool(arena);
    CallTree tree(arena);
    tree.start();
    std::vector<NodeId> nodes;
    for (std::int64_t i = 0; i < state.range(0); ++i)
        nodes.push_back(tree.child(0, NodeKind::Mpi, static_cast<std::uint32_t>(i % 3), static_cast<std::uint64_t>(i)));
    Clusterer clusterer(arena, pool, static_cast<std::uint32_t>(state.range(1)), EquivalenceChoice::Strong);
    Accumulator rows;
    std::mt19937_64 random(1);
    for (auto _ : state) {
        for (const NodeId node : nodes) {
            Row& row = rows.row(node, tree, arena);
            row[Metric::Visits] = 3;
            row[Metric::Time] = 100000 + random() % 10000;
            row[Metric::P2pBytesSent] = 4096;
        }
        const CondensedVector condensed = condense(rows, tree, 0);
        StructureSignatures signatures;
        for (const NodeId node : nodes) {
            signatures.strong.add(tree[node], 3);
            signatures.weak.add(tree[node], 1);
        }
        IterationProfile profile;
        profile.take(rows, pool);
        clusterer.add(profile, condensed, signatures);
        rows.clear();
    }
    state.counters["per_path"] =
        benchmark::Counter(static_cast<double>(state.range(0) * state.iterations()), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(iteration_end)->Args({30, 64})->Args({100, 64})->Args({1000, 64})->Args({100, 256});

/// A loop that has run for a while. Of the call paths of an iteration six in ten are MPI calls, always the same; the others
/// were hit by samples, some of four times as many.
class Loop {
  public:
    Loop(std::size_t paths, std::uint32_t clusters, bool keeps_series, bool keeps_journal) : events_(paths * 6 / 10), samples_(paths - events_) {
        tree_.start();
        stack_.start(0, 0, {clusters, EquivalenceChoice::Strong, 0, keeps_series, keeps_series, {}});
        NodeId caller = 0;
        for (std::size_t i = 0; i < events_ + 4 * samples_; ++i) {
            caller = tree_.child(i % 5 == 0 ? 0 : caller, NodeKind::Unknown, 0, i);
            nodes_.push_back(i < events_ ? tree_.child(caller, NodeKind::Mpi, static_cast<std::uint32_t>(i % 3), 0) : caller);
        }
        stack_.begin(PhaseKind::Iterations, "step", 0, 0); // the phase is there, with its rows
        stack_.end(PhaseKind::Iterations, "step", 0, 0);
        if (!keeps_journal) return;
        begin_journal();
        stack_.iterations().tell(&listener);
    }
    ~Loop() {
        file_.release();
        std::remove(file_name);
    }
    std::uint64_t closed() { return stack_.all()[1].iteration_walls.size(); }
    /// One iteration; returns the ns that its end took.
    std::uint64_t iterate() {
        stack_.begin(PhaseKind::Iterations, "step", now_, now_);
        const std::uint64_t slower = 100 + random_() % 8 * 10; // eight kinds
        for (std::size_t i = 0; i < events_; ++i) {
            Row& row = stack_.row(nodes_[i]);
            const std::uint64_t ns = (1000 + random_() % 64) * slower / 100;
            row.is_event = true;
            row[Metric::Visits] += 3;
            row[Metric::Time] += ns;
            row[i % 2 == 0 ? Metric::P2pBytesSent : Metric::P2pBytesReceived] += 4096;
            stack_.time().book_event(ns, ns);
            now_ += ns;
        }
        for (std::size_t i = 0; i < samples_; ++i) {
            stack_.book_samples(nodes_[events_ + i * 4 + random_() % 4], 1, 10000000);
        }
        now_ += 1000000 * slower / 100;
        if (file_.memory() != nullptr && !journal_.is_running()) begin_journal(); // a snapshot has its own cost
        running_ = &journal_;
        const std::uint64_t begin = own_time();
        stack_.end(PhaseKind::Iterations, "step", now_, now_);
        return own_time() - begin;
    }

  private:
    static constexpr const char* file_name = "runtime_benchmark.live";
    static inline Journal* running_ = nullptr;
    static void closing(const Phase& phase, const IterationProfile& profile, const StructureSignatures& signatures, std::uint64_t wall_ns,
                        std::uint64_t now) noexcept {
        running_->closing(phase, profile, signatures, wall_ns, now);
    }
    static void closed(IterationFate fate) noexcept { running_->closed(fate); }
    static void put_back(const Phase& phase) noexcept { running_->put_back(phase); }
    static void missed() noexcept { running_->stop(); }
    static constexpr IterationListener listener{closing, closed, put_back, missed};
    void begin_journal() {
        const unsigned char header[64] = {};
        file_.replace(file_name, header, sizeof header, 32, 1 << 20, false);
        journal_.begin(*thread_, file_.memory(), file_.size(), 0);
    }
    static std::uint64_t own_time() { // of the processor: other programs on the machine do not count
        timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<std::uint64_t>(t.tv_sec) * 1000000000 + static_cast<std::uint64_t>(t.tv_nsec);
    }
    std::size_t events_;
    std::size_t samples_;
    std::unique_ptr<Thread> thread_ = std::make_unique<Thread>();
    CallTree& tree_ = thread_->tree;
    PhaseStack& stack_ = thread_->phases;
    LiveFile file_;
    Journal journal_;
    std::vector<NodeId> nodes_;
    std::mt19937_64 random_{1};
    std::uint64_t now_ = 0;
};

/// The end marker of an iteration as the runtime meets it, from the marker to the next begin, after so many iterations: it
/// must not depend on their number. Arguments: call paths of an iteration, K, with the coded series, with the journal, iterations before. One loop
/// serves all numbers.
void close_of_iteration(benchmark::State& state) {
    static std::map<std::array<std::int64_t, 3>, std::unique_ptr<Loop>> loops;
    std::unique_ptr<Loop>& loop = loops[{state.range(0), state.range(2), state.range(3)}];
    if (loop == nullptr) loop = std::make_unique<Loop>(state.range(0), static_cast<std::uint32_t>(state.range(1)), state.range(2) != 0, state.range(3) != 0);
    while (loop->closed() < static_cast<std::uint64_t>(state.range(4))) loop->iterate();
    for (auto _ : state) state.SetIterationTime(static_cast<double>(loop->iterate()) * 1e-9);
    state.counters["per_path"] =
        benchmark::Counter(static_cast<double>(state.range(0) * state.iterations()), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(close_of_iteration)
    ->ArgsProduct({{100}, {64}, {0}, {0}, {1000, 100000, 1000000}})
    ->ArgsProduct({{100}, {64}, {1}, {0, 1}, {1000, 100000}})
    ->ArgsProduct({{1000}, {256}, {0}, {0}, {1000, 100000, 1000000}}) // the last takes minutes: benchmarks/run leaves it out
    ->ArgsProduct({{1000}, {256}, {1}, {0}, {1000, 100000, 1000000}})
    ->Iterations(2000)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace libprofile

int main(int argc, char** argv) {
    libprofile::memory_quota.limit(std::uint64_t{8} << 30);
    libprofile::unwinder.load();
    libprofile::load_map.refresh();
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
