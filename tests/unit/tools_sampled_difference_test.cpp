// Traces of samples compared with each other: stages, what chance does, and differences of known size.
#include "tests/unit/tools_sampled_program.hpp"
#include "tools/structure/sampled_difference.hpp"

#include <chrono>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {
namespace {

using test::SampledProgram;
using test::SampledRun;

/// "1(10*3 20(21*2))": keys, and how many samples hit the function and what it calls.
std::string text_of(const OrderedTree& tree, std::uint32_t node = 0) {
    std::string text = std::to_string(tree.nodes[node].key) + "*" + std::to_string(tree.nodes[node].events);
    std::string inside;
    for (const std::uint32_t child : tree.children(node)) inside += (inside.empty() ? "" : " ") + text_of(tree, child);
    return inside.empty() ? text : text + "(" + inside + ")";
}

using Sequence = std::vector<std::pair<std::uint64_t, int>>; // keys, and how often in a row

std::vector<std::uint32_t> sightings_of(SampledProgram& program, const Sequence& sequence) {
    std::vector<std::uint32_t> sightings;
    for (const auto& [key, length] : sequence) sightings.insert(sightings.end(), static_cast<std::size_t>(length), program.function(1, key));
    return sightings;
}

/// The second one as it is compared with the first.
std::string beside(const Sequence& first, const Sequence& second) {
    SampledProgram program;
    const auto one = sightings_of(program, first), other = sightings_of(program, second);
    return text_of(in_order(sampled_tree(one, program.parent), sampled_tree(other, program.parent), program.key)[1]);
}

TEST(SampledTree, KeepsTheOrderOfStages) {
    const Sequence stages = {{30, 9}, {10, 15}, {20, 14}};
    EXPECT_EQ(beside(stages, stages), "0*38(1*38(30*9 10*15 20*14))");
    EXPECT_EQ(beside(stages, {{30, 9}, {20, 14}, {10, 15}}), "0*38(1*38(30*9 20*14 10*15))");
    EXPECT_EQ(beside(stages, {{20, 9}, {10, 8}, {30, 7}}), "0*24(1*24(20*9 10*8 30*7))");
}

TEST(SampledTree, HasNoOrderOfWhatComesBack) {
    Sequence one, other;
    for (int pass = 0; pass < 20; ++pass) {
        one.insert(one.end(), {{10, 1}, {20, 2}, {30, 3}});
        other.insert(other.end(), {{30, 1}, {20, 2}, {10, 3}});
    }
    EXPECT_EQ(beside(one, other), "0*120(1*120(10*60 20*40 30*20))");
    EXPECT_EQ(beside({{5, 6}, {20, 9}, {5, 6}, {10, 9}, {5, 6}}, {{10, 9}, {5, 8}, {20, 9}}), "0*26(1*26(10*9 20*9 5*8))") << "the others keep their order";
}

TEST(SampledTree, HasNoOrderOfFewSamples) { EXPECT_EQ(beside({{10, 4}, {20, 40}}, {{20, 40}, {10, 4}}), "0*44(1*44(10*4 20*40))"); }

TEST(SampledTree, TellsFunctionsApartByTheirCallers) {
    SampledProgram program;
    const std::uint32_t solve = program.function(1, 10), output = program.function(1, 20);
    const std::uint32_t in_solve = program.function(solve, 5), in_output = program.function(output, 5);
    const SampledTree tree = sampled_tree(std::vector<std::uint32_t>{solve, in_solve, solve, in_solve, 1, in_output, output}, program.parent);
    EXPECT_EQ(text_of(in_order(tree, tree, program.key)[0]), "0*7(1*7(10*4(5*2) 20*2(5*1)))");
}

TEST(SampledTree, OfNoSamplesIsTheRoot) { EXPECT_EQ(beside({}, {}), "0*0"); }

SampledProcess process_of(const SampledProgram& program, const SampledRun& run) { return sampled_process(run.sightings, program.parent, program.key); }

/// What ranks of one program do, each with lengths of its own.
using Behaviour = std::function<void(SampledProgram&, SampledRun&)>;

void stages(SampledProgram& program, SampledRun& run) {
    run.stay(program.function(1, 10), 200);
    run.stay(program.function(1, 20), 900);
    run.stay(program.function(1, 30), 150);
}
void solver(SampledProgram& program, SampledRun& run) {
    run.stay(program.function(1, 10), 100);
    const std::uint32_t solve = program.function(1, 20);
    run.loop(solve, 100, 6, 400, 1);
    run.stay(program.function(1, 30), 80);
}
void steps_with_output(SampledProgram& program, SampledRun& run) {
    for (int part = 0; part < 8; ++part) {
        run.loop(program.function(1, 20), 100, 3, 60, 1.5);
        run.stay(program.function(1, 30), 12, 0.9);
    }
}
void many_rare_functions(SampledProgram& program, SampledRun& run) {
    run.stay(program.function(1, 10), 300);
    for (int part = 0; part < 200; ++part) {
        run.loop(program.function(1, 20), 100, 4, 3, 0.7);
        run.rare(program.function(1, 20), 1000, 300, 3, 0.3);
    }
}
void long_passes(SampledProgram& program, SampledRun& run) {
    for (int pass = 0; pass < 20; ++pass) {
        run.stay(program.function(1, 10), 40, 0.5);
        run.stay(program.function(1, 20), 40, 0.5);
        run.rare(1, 1000, 20, 2, 0.5);
    }
}
void near_the_border_of_a_stage(SampledProgram& program, SampledRun& run) {
    run.stay(program.function(1, 10), 60, 0.3);
    run.stay(program.function(1, 20), 60, 0.3);
    run.stay(program.function(1, 10), 60, 0.3);
    run.stay(program.function(1, 30), 200);
}

struct Kind {
    const char* name;
    Behaviour behaviour;
};
const std::vector<Kind> kinds = {{"stages", stages},           {"solver", solver},
                                 {"steps", steps_with_output}, {"rare", many_rare_functions},
                                 {"passes", long_passes},      {"border", near_the_border_of_a_stage}};

/// @return of `pairs` how many are told
template <class Tell> std::uint64_t pairs_told(std::uint64_t pairs, const Behaviour& one, const Behaviour& other, Tell tell) {
    std::uint64_t told = 0;
    for (std::uint64_t pair = 0; pair < pairs; ++pair) {
        SampledProgram program;
        SampledRun a(program, 2 * pair + 1), b(program, 2 * pair + 2);
        one(program, a);
        other(program, b);
        told += tell(program, sampled_difference(process_of(program, a), process_of(program, b), program.key)) ? 1 : 0;
    }
    return told;
}

TEST(SampledDifference, OfEqualProcessesIsChance) {
    constexpr std::uint64_t pairs = 40;
    for (const Kind& kind : kinds)
        EXPECT_LE(pairs_told(pairs, kind.behaviour, kind.behaviour,
                             [](const SampledProgram&, const SampledDifference& found) { return found.of_a.is_told || found.of_b.is_told; }),
                  pairs / 20)
            << kind.name;
}

TEST(SampledDifference, OfProcessesThatTakeOtherTimesIsChance) {
    const Behaviour slow = [](SampledProgram& program, SampledRun& run) {
        run.stay(program.function(1, 10), 400);
        run.stay(program.function(1, 20), 300);
        run.stay(program.function(1, 30), 450);
    };
    EXPECT_LE(pairs_told(40, stages, slow, [](const SampledProgram&, const SampledDifference& found) { return found.of_a.is_told || found.of_b.is_told; }), 1u);
}

TEST(SampledDifference, OfASkippedStageIsItsShare) {
    for (const Kind& kind : kinds)
        for (const double stage : {0.05, 0.15}) {
            const Behaviour with_more = [&](SampledProgram& program, SampledRun& run) {
                kind.behaviour(program, run);
                run.stay(program.function(1, 77), stage * static_cast<double>(run.sightings.size()), 0);
            };
            const std::uint64_t told = pairs_told(20, kind.behaviour, with_more, [&](const SampledProgram& program, const SampledDifference& found) {
                const bool is_share = std::abs(found.of_b.of_path - stage / (1 + stage)) < 0.01 && found.of_b.share >= found.of_b.of_path;
                return found.of_b.is_told && !found.of_a.is_told && is_share && program.key[found.of_b.path] == 77 && !found.of_b.is_elsewhere;
            });
            EXPECT_GE(told, 19u) << kind.name << " " << stage;
        }
}

TEST(SampledDifference, OfAFunctionInEachPassIsItsShare) {
    const Behaviour with_more = [](SampledProgram& program, SampledRun& run) {
        run.stay(program.function(1, 10), 100);
        for (int pass = 0; pass < 400; ++pass) {
            run.loop(program.function(1, 20), 100, 6, 1, 1);
            run.stay(program.function(program.function(1, 20), 77), 0.3);
        }
        run.stay(program.function(1, 30), 80);
    };
    EXPECT_GE(pairs_told(20, solver, with_more,
                         [](const SampledProgram& program, const SampledDifference& found) {
                             return found.of_b.is_told && !found.of_a.is_told && program.key[found.of_b.path] == 77;
                         }),
              19u);
}

TEST(SampledDifference, OfSwappedStagesIsTheShorterOne) {
    const Behaviour swapped = [](SampledProgram& program, SampledRun& run) {
        run.stay(program.function(1, 10), 200);
        run.stay(program.function(1, 30), 150);
        run.stay(program.function(1, 20), 900);
    };
    EXPECT_EQ(pairs_told(20, stages, swapped,
                         [](const SampledProgram& program, const SampledDifference& found) {
                             return found.of_a.is_told && found.of_b.is_told && program.key[found.of_a.path] == 30 && found.of_a.is_elsewhere &&
                                    program.key[found.of_b.path] == 30 && found.of_b.is_elsewhere;
                         }),
              20u);
}

TEST(SampledDifference, OfFewSamplesIsNotTold) {
    SampledProgram program;
    const auto few = sightings_of(program, {{10, 49}}), many = sightings_of(program, {{20, 500}});
    const SampledProcess a = sampled_process(few, program.parent, program.key), b = sampled_process(many, program.parent, program.key);
    const SampledDifference found = sampled_difference(a, b, program.key), with_none = sampled_difference({}, b, program.key);
    EXPECT_FALSE(found.of_a.is_told || found.of_b.is_told);
    EXPECT_FALSE(with_none.of_a.is_told || with_none.of_b.is_told);
}

TEST(SampledDifference, OfAMillionSamplesIsFoundInBoundedTime) {
    SampledProgram program;
    std::vector<SampledProcess> processes;
    const auto begin = std::chrono::steady_clock::now();
    for (const bool skips : {false, true}) {
        SampledRun run(program, skips ? 1 : 2);
        std::uint32_t at = 1;
        for (std::uint64_t depth = 0; depth < 40; ++depth) at = program.function(at, 500 + depth);
        while (run.sightings.size() < 900'000) {
            run.loop(at, 1000, 30, 1, 3);
            run.rare(at, 5000, 3000, 3, 1);
        }
        if (!skips) run.stay(program.function(1, 77), 100'000);
        processes.push_back(process_of(program, run));
        EXPECT_GE(processes.back().samples, 900'000u);
        EXPECT_LE(processes.back().tree.samples(), most_samples);
    }
    const SampledDifference found = sampled_difference(processes[0], processes[1], program.key);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_TRUE(found.of_a.is_told);
    EXPECT_FALSE(found.of_b.is_told) << found.of_b.share << " " << found.of_b.chance;
    EXPECT_LT(seconds, 20) << "a few of them, on a machine that others use, too";
    RecordProperty("seconds", std::to_string(seconds));
}

} // namespace
} // namespace libprofile::tools
