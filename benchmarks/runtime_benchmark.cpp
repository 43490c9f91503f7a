// Cost of the runtime's parts: unwinding and finding a call path (per MPI call and per sample) and closing an iteration
// (per iteration and call path). ns per operation; "per_frame" and "per_path" are the units of docs/overhead.md.

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/clustering/clusterer.hpp"

#include <benchmark/benchmark.h>
#include <random>
#include <ucontext.h>
#include <vector>

namespace libprofile {
namespace {

struct Stack {
    Arena arena;
    CallTree tree{arena};
    RawPath path;
    Stack() { tree.start(); }
};

/// Runs the benchmark loop below `depth` frames of its own.
template <class Loop> [[gnu::noinline]] int below(std::int64_t depth, Loop& loop) {
    const int result = depth == 0 ? loop() : below(depth - 1, loop) + 1;
    asm volatile("" ::: "memory"); // no tail call
    return result;
}

void call_path_of_mpi_call(benchmark::State& state) {
    static Stack stack;
    auto loop = [&] {
        for (auto _ : state) {
            unwinder.here(__builtin_return_address(0), stack.path);
            benchmark::DoNotOptimize(stack.tree.path(stack.path, true));
        }
        return 0;
    };
    below(state.range(0), loop);
    state.counters["frames"] = static_cast<double>(stack.path.size);
}
BENCHMARK(call_path_of_mpi_call)->Arg(5)->Arg(30)->Arg(100);

void call_path_of_sample(benchmark::State& state) {
    static Stack stack;
    auto loop = [&] {
        for (auto _ : state) {
            ucontext_t context;
            getcontext(&context);
            unwinder.interrupted(&context, stack.path);
            benchmark::DoNotOptimize(stack.tree.path(stack.path, false));
        }
        return 0;
    };
    below(state.range(0), loop);
    state.counters["frames"] = static_cast<double>(stack.path.size);
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
