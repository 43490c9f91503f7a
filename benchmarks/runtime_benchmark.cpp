// Cost of the runtime's parts: unwinding and finding a call path (per MPI call and per sample) and closing an iteration
// (per iteration and call path). ns per operation; "per_frame" and "per_path" are the units of docs/overhead.md.

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/callpath/path_tracker.hpp"
#include "libprofile/callpath/stack_memory.hpp"
#include "libprofile/callpath/unwinder.hpp"
#include "libprofile/session/thread.hpp"
#include "libprofile/callpath/frame_walk.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/recipe_table.hpp"
#include "libprofile/callpath/unwind_info.hpp"
#include "libprofile/clustering/clusterer.hpp"

#include <benchmark/benchmark.h>
#include <cstdio>
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
        process_state.marks.store(MarksMode::On);
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
    state.counters["per_frame"] = benchmark::Counter(frames * static_cast<double>(state.iterations()),
                                                     benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
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
    state.counters["per_frame"] = benchmark::Counter(frames * static_cast<double>(state.iterations()),
                                                     benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
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
    Clusterer clusterer(arena, pool, static_cast<std::uint32_t>(state.range(1)), EquivalenceMode::Strong);
    Accumulator rows;
    std::mt19937_64 random(1);
    for (auto _ : state) {
        for (const NodeId node : nodes) {
            Row& row = rows.row(node, tree, arena);
            row[Metric::Visits] = 3;
            row[Metric::Time] = 100000 + random() % 10000;
            row[Metric::P2pBytesSent] = 4096;
        }
        const CondensedVector condensed = condense(rows, tree);
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
    state.counters["per_path"] = benchmark::Counter(static_cast<double>(state.range(0) * state.iterations()),
                                                    benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(iteration_end)->Args({30, 64})->Args({100, 64})->Args({1000, 64})->Args({100, 256});

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
