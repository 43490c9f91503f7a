// Cost of the runtime's parts: unwinding and finding a call path (per MPI call and per sample) and closing an iteration
// (per iteration and call path). ns per operation; "per_frame" and "per_path" are the units of docs/overhead.md.

#include "libprofile/callpath/call_tree.hpp"
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

/// Call sites as they occur: inside of functions, in three modules.
std::vector<std::uintptr_t> some_addresses(std::size_t count) {
    const std::uintptr_t bases[] = {reinterpret_cast<std::uintptr_t>(&std::fopen),
                                    reinterpret_cast<std::uintptr_t>(&std::terminate),
                                    reinterpret_cast<std::uintptr_t>(&benchmark::Shutdown)};
    std::mt19937_64 random(1);
    std::vector<std::uintptr_t> result;
    while (result.size() < count) {
        const std::uintptr_t address = bases[result.size() % 3] + random() % 0x10000;
        if (read_unwind_info(address).kind != RecipeKind::Missing) result.push_back(address);
    }
    return result;
}

/// Argument: how many addresses take turns. A few thousand no longer fit into the processor's caches.
void recipe_computed(benchmark::State& state) {
    const std::vector<std::uintptr_t> addresses = some_addresses(static_cast<std::size_t>(state.range(0)));
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(read_unwind_info(addresses[i]));
        if (++i == addresses.size()) i = 0;
    }
}
BENCHMARK(recipe_computed)->Arg(1)->Arg(30)->Arg(4096);

void recipe_found(benchmark::State& state) {
    const std::vector<std::uintptr_t> addresses = some_addresses(static_cast<std::size_t>(state.range(0)));
    for (int round = 0; round < 2; ++round) // twice: what was in a smaller table is learned again
        for (const std::uintptr_t address : addresses) recipe_table.find(address, 1);
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(recipe_table.find(addresses[i], 1));
        if (++i == addresses.size()) i = 0;
    }
}
BENCHMARK(recipe_found)->Arg(1)->Arg(30)->Arg(4096);

void recipe_word_found(benchmark::State& state) {
    const std::vector<std::uintptr_t> addresses = some_addresses(static_cast<std::size_t>(state.range(0)));
    for (int round = 0; round < 2; ++round)
        for (const std::uintptr_t address : addresses) recipe_table.find(address, 1);
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(recipe_table.find_word(addresses[i], 1));
        if (++i == addresses.size()) i = 0;
    }
}
BENCHMARK(recipe_word_found)->Arg(1)->Arg(30)->Arg(4096);

void recipe_learned(benchmark::State& state) {
    const std::vector<std::uintptr_t> addresses = some_addresses(static_cast<std::size_t>(state.range(0)));
    std::size_t i = 0;
    for (auto _ : state) {
        benchmark::DoNotOptimize(recipe_table.learn(addresses[i], 1));
        if (++i == addresses.size()) i = 0;
    }
}
BENCHMARK(recipe_learned)->Arg(30);

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
