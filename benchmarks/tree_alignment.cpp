// Measures the alignment of two processes (tools/structure): processor time and memory for trees, alignment, changes and the merged tree.
//
//   tree_alignment [EVENTS]
//
// A process runs time steps: in each, inner iterations of a solver with two sends, two receives and a reduction, and an output in every tenth step; 1,000
// events by step, on call paths of 4 to 7 functions. The other process is equal, or differs in 5 % of its events: half of them left out, half put in, as
// other calls of the same function or as calls from anywhere; or its events are in no order at all; or all are calls of one function.
#include "tests/unit/tools_ordered_program.hpp"
#include "tools/structure/merged_tree.hpp"
#include "tools/structure/tree_changes.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/resource.h>

using namespace libprofile;
using namespace libprofile::test;

namespace {

double processor_seconds(const rusage& usage) {
    const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class Work> void measure(const char* what, Work work) {
    rusage before{}, usage{};
    getrusage(RUSAGE_SELF, &before);
    const auto result = work();
    getrusage(RUSAGE_SELF, &usage);
    const double seconds = processor_seconds(usage) - processor_seconds(before);
    std::printf("  %-34s %7.3f s  %5ld MiB at most  %s\n", what, seconds, usage.ru_maxrss / 1024, result.c_str());
}

struct Steps {
    OrderedProgram program;
    std::uint32_t main = program.call(program.call(0, 1), 2), step = program.call(main, 3), solve = program.call(step, 4), cycle = program.call(solve, 5),
                  exchange = program.call(cycle, 6), pack = program.call(exchange, 7);
    std::uint32_t send = program.call(pack, 100), receive = program.call(exchange, 101), reduce = program.call(cycle, 102), test = program.call(solve, 103),
                  write = program.call(program.call(step, 8), 104), barrier = program.call(main, 105);

    std::vector<CallEvent> events(std::size_t count) const {
        std::vector<CallEvent> all;
        for (std::size_t number = 0; all.size() < count; ++number) {
            for (int pass = 0; pass < 33; ++pass) {
                for (int inner = 0; inner < 5; ++inner) {
                    all.push_back({send, 2});
                    all.push_back({receive, 2});
                    all.push_back({reduce});
                }
                all.push_back({test});
            }
            if (number % 10 == 9) all.push_back({write, 5});
            all.push_back({barrier});
        }
        std::vector<CallEvent> single;
        for (const CallEvent& event : all) single.insert(single.end(), event.count, CallEvent{event.path});
        single.resize(count);
        return single;
    }
};

void compare(const char* what, const OrderedProgram& program, const std::vector<CallEvent>& a, const std::vector<CallEvent>& b) {
    std::printf("%s: %zu and %zu events\n", what, a.size(), b.size());
    OrderedTree tree_a, tree_b;
    measure("trees", [&] {
        tree_a = program.tree(a);
        tree_b = program.tree(b);
        return std::to_string(tree_a.nodes.size()) + " and " + std::to_string(tree_b.nodes.size()) + " nodes";
    });
    measure("alignment", [&] {
        const tools::TreeAlignment alignment = tools::align_trees(tree_a, tree_b);
        return std::to_string(alignment.events_a) + " and " + std::to_string(alignment.events_b) + " events without a partner";
    });
    measure("alignment with changes", [&] {
        const tools::TreeChanges found = tools::tree_changes(tree_a, tree_b);
        return std::to_string(found.changes.size()) + " changes, " + std::to_string(found.alignment.events_a) + " and " +
               std::to_string(found.alignment.events_b) + " events without a partner";
    });
    measure("merged tree", [&] {
        tools::TreeMerger merger;
        merger.add(0, tree_a);
        merger.add(1, tree_b);
        return std::to_string(merger.merge().nodes.size()) + " nodes";
    });
}

} // namespace

int main(int argc, char** argv) {
    const std::size_t count = argc > 1 ? static_cast<std::size_t>(std::atoll(argv[1])) : 1'000'000;
    test::Random random{1};
    const Steps steps;
    const std::vector<CallEvent> events = steps.events(count);
    compare("equal", steps.program, events, events);
    OrderedProgram other_calls = steps.program;
    std::vector<CallEvent> edits;
    for (const CallEvent& event : events) {
        if (random() % 40 != 0) edits.push_back(event);
        if (random() % 40 == 0) edits.push_back({other_calls.call(other_calls.parent[event.path], 200 + random() % 10)});
    }
    compare("5 % different", other_calls, events, edits);
    compare("5 % different, from anywhere", steps.program, events, edited(random, events, 40));
    OrderedProgram flat = steps.program;
    for (std::uint32_t& parent : flat.parent) parent = 0;
    compare("5 % different, one list", flat, events, edited(random, events, 40));
    std::vector<CallEvent> mixed = events;
    for (std::size_t i = mixed.size(); i > 1; --i) std::swap(mixed[i - 1], mixed[random() % i]);
    compare("another order", steps.program, events, mixed);
    compare("another order, one list", flat, events, mixed);
    constexpr std::size_t processes = 100;
    std::printf("%zu processes of %zu events, 5 %% different\n", processes, count / processes);
    measure("merged tree", [&] {
        tools::TreeMerger merger;
        const std::vector<CallEvent> some = steps.events(count / processes);
        for (std::uint32_t process = 0; process < processes; ++process) merger.add(process, steps.program.tree(edited(random, some, 40)));
        return std::to_string(merger.merge().nodes.size()) + " nodes";
    });
}
