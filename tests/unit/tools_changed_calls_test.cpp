// What two runs call otherwise inside their iterations, where it is known what was done to the program between them.
#include "tests/unit/split_mix.hpp"
#include "tests/unit/tools_call_edits.hpp"
#include "tests/unit/tools_called_job.hpp"
#include "tools/comparison/changed_calls.hpp"
#include "tools/comparison/changed_calls_words.hpp"
#include "tools/comparison/typical_events.hpp"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <map>

namespace libprofile::tools {
namespace {

using test::CalledJob;
using test::Random;

using Rows = std::vector<std::uint32_t>;
using Numbers = std::vector<std::uint64_t>;

using Call = test::EditableCall<std::string>;

const test::CallNames<std::string> names{12, 5, [](std::uint64_t number) { return "f" + std::to_string(number); },
                                         [](std::uint64_t number) { return "MPI_Call" + std::to_string(number); }};

constexpr std::uint64_t step_ns = 1000; // from one event to the next

/// A run of a program. One that was compiled anew has call paths in another order, copies of functions, and files that lie elsewhere.
class ProgramRun {
  public:
    explicit ProgramRun(bool is_new_build) : is_new_build_(is_new_build) {
        if (is_new_build) call_path(job_.main, {"f_of_the_new_build", {}});
    }

    /// @param kinds what iterations of a kind call
    /// @param kind_of by iteration
    /// @param late by event of the first kind, ns: it begins later, and all behind it
    void rank(const std::vector<Call>& kinds, const Rows& kind_of, const std::map<std::size_t, std::uint64_t>& late = {}) {
        job_.rank({}, std::vector<CalledJob::Calls>(kinds.size()), kind_of);
        SequencesData& data = job_.profile.locations.back().phases[1].sequences.emplace();
        for (std::uint32_t kind = 0; kind < kinds.size(); ++kind) {
            EventSequence& sequence = data.sequences.emplace_back();
            sequence.iterations = static_cast<std::uint64_t>(std::count(kind_of.begin(), kind_of.end(), kind));
            sequence.has_timeline = true;
            add_events(job_.main, kinds[kind], sequence);
            std::uint64_t begin = 0;
            for (std::size_t e = 0; e < sequence.events.size(); ++e, begin += step_ns) {
                if (kind == 0 && late.contains(e)) begin += late.at(e);
                sequence.events[e].begin_sum = sequence.iterations * begin;
                sequence.events[e].length_sum = sequence.iterations * step_ns / 2;
            }
            std::reverse(sequence.events.begin(), sequence.events.end()); // they are sorted by their begins
        }
        for (const std::uint32_t kind : kind_of) data.number_of_iteration.push_back(kind + 1);
    }
    Location& last_rank() { return job_.profile.locations.back(); }
    OrderedRun ordered() const { return {&job_.profile, 1, job_.locations()}; }

  private:
    std::uint32_t call_path(std::uint32_t parent, const Call& call) {
        const bool is_call = call.calls.empty() && call.what.starts_with("MPI_");
        const auto [known, is_new] = paths_.try_emplace({parent, call.what}, 0);
        if (!is_new && !(is_new_build_ && !is_call)) return known->second;
        known->second = is_call ? job_.call(parent, call.what) : job_.frame(parent, call.what + (is_new_build_ ? ".constprop.0" : ""));
        if (!is_call) {
            SiteName& site = job_.profile.sites.back().name;
            site.file = (is_new_build_ ? "/tmp/build/" : "/home/user/") + call.what + ".c";
        }
        return known->second;
    }
    void add_events(std::uint32_t parent, const Call& call, EventSequence& to) {
        const std::uint32_t path = call_path(parent, call);
        for (const Call& next : call.calls) add_events(path, next, to);
        if (!call.calls.empty()) return;
        SequenceEvent event;
        event.path = path;
        to.events.push_back(event);
    }

    CalledJob job_;
    bool is_new_build_;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> paths_;
};

/// Iterations with the same number are partners.
SequencePairs pairs_of(const ProgramRun& before, const ProgramRun& after, std::uint64_t iterations) {
    std::vector<AlignedPair> pairs;
    for (std::uint64_t i = 0; i < iterations; ++i) pairs.push_back({i, i, 0, 0});
    OrderedRun old = before.ordered(), now = after.ordered();
    pair_by_rank(old, now);
    return pair_sequences(old, now, pairs);
}

std::vector<std::string> texts(const ChangedCalls& calls, std::uint64_t iterations) {
    std::vector<std::string> list;
    for (const ChangedCall& call : calls.calls) list.push_back(changed_call_text(call, calls, iterations));
    return list;
}

/// In every tenth iteration the second run does something else.
const Rows as_before(30, 0);
const Rows every_tenth = [] {
    Rows kinds(30);
    for (std::size_t i = 9; i < 30; i += 10) kinds[i] = 1;
    return kinds;
}();

/// @param edit does it to a function: before and after; false: it cannot
void expect_just(TreeChangeKind kind, TreeChangeKind reverse, const test::CallEdit<std::string>& edit) {
    Random random{17};
    int done = 0;
    for (int round = 0; round < 100; ++round) {
        Call a = random_call(random, names, 3), b = a;
        std::vector<Call*> before, after;
        collect(a, before);
        collect(b, after);
        const std::size_t chosen = random() % before.size();
        if (!edit(random, *before[chosen], *after[chosen])) continue;
        ++done;
        for (const bool is_forward : {true, false}) {
            ProgramRun old(false), now(true);
            for (int rank = 0; rank < 3; ++rank) {
                old.rank({a, b}, is_forward ? as_before : every_tenth);
                now.rank({a, b}, is_forward ? every_tenth : as_before);
            }
            const SequencePairs pairs = pairs_of(old, now, 30);
            const ChangedCalls found = changed_calls(pairs);
            const std::string all = ::testing::PrintToString(texts(found, 30));
            ASSERT_EQ(found.compared, 90u);
            ASSERT_EQ(found.different, 9u) << "round " << round;
            ASSERT_EQ(found.calls.size(), 1u) << "round " << round << ": " << all;
            ASSERT_EQ(found.calls[0].kind, is_forward ? kind : reverse) << "round " << round << ": " << all;
            ASSERT_EQ(found.calls[0].iterations, (Numbers{9, 19, 29})) << "round " << round;
            ASSERT_EQ(found.calls[0].ranks, (Numbers{0, 1, 2}));
            ASSERT_EQ(found.calls[0].most, 1u);
        }
    }
    EXPECT_GT(done, 20);
}

TEST(ChangedCalls, OfAProgramThatWasOnlyCompiledAnewThereAreNone) {
    Random random{3};
    for (int round = 0; round < 30; ++round) {
        const Call call = random_call(random, names, 3);
        ProgramRun old(false), now(true);
        old.rank({call}, as_before);
        now.rank({call}, as_before);
        const ChangedCalls found = changed_calls(pairs_of(old, now, 30));
        ASSERT_EQ(found.compared, 30u);
        ASSERT_EQ(found.different, 0u) << "round " << round << ": " << ::testing::PrintToString(texts(found, 30));
        ASSERT_TRUE(found.calls.empty());
    }
}

TEST(ChangedCalls, AnAddedCallIsJustThat) {
    expect_just(TreeChangeKind::Added, TreeChangeKind::Removed, [](Random& random, Call&, Call& after) {
        after.calls.insert(place(after.calls, random() % (after.calls.size() + 1)), Call{"MPI_New", {}});
        return true;
    });
}

TEST(ChangedCalls, ARenamedFunctionIsJustThat) { expect_just(TreeChangeKind::Renamed, TreeChangeKind::Renamed, test::renamed_to<std::string>("new_name")); }

TEST(ChangedCalls, AnInlinedFunctionIsJustThat) { expect_just(TreeChangeKind::Inlined, TreeChangeKind::Outlined, test::inlined<std::string>("small")); }

TEST(ChangedCalls, SwappedPhasesAreJustThat) {
    expect_just(TreeChangeKind::Moved, TreeChangeKind::Moved, test::swapped<std::string>(names, [](std::size_t i) { return "phase" + std::to_string(i); }));
}

const Call exchange{"exchange", {{"MPI_Send", {}}, {"MPI_Recv", {}}}}, output{"output", {{"MPI_Gather", {}}}}, reduce{"MPI_Allreduce", {}};
Call step_of(std::vector<Call> calls) { return {"step", std::move(calls)}; }
const Call usual = step_of({exchange, reduce, output});

/// What is said of two programs.
/// @param kind_of by iteration: which of them the second run does
std::vector<std::string> said_of(const std::vector<Call>& kinds, const Rows& kind_of) {
    ProgramRun old(false), now(true);
    old.rank(kinds, Rows(kind_of.size()));
    now.rank(kinds, kind_of);
    return texts(changed_calls(pairs_of(old, now, kind_of.size())), kind_of.size());
}

TEST(ChangedCalls, AreSaidInWords) {
    using Texts = std::vector<std::string>;
    const auto said = [](std::vector<Call> calls) { return said_of({usual, step_of(std::move(calls))}, Rows(30, 1)); };
    EXPECT_EQ(said({exchange, reduce, {"output", {{"MPI_Gather", {}}, {"MPI_Bcast", {}}}}}),
              (Texts{"in all 30 iterations, MPI_Bcast was added in output, once an iteration"}));
    EXPECT_EQ(said({exchange, output}), (Texts{"in all 30 iterations, MPI_Allreduce was removed from step, once an iteration"}));
    EXPECT_EQ(said({exchange, reduce, output, {"check", {{"MPI_Test1", {}}, {"MPI_Test2", {}}}}}),
              (Texts{"in all 30 iterations, check (2 calls) was added in step, once an iteration"}));
    EXPECT_EQ(said({output, exchange, reduce}), (Texts{"in all 30 iterations, output was moved in step, to the front"}));
    EXPECT_EQ(said({reduce, output, exchange}), (Texts{"in all 30 iterations, MPI_Allreduce and what follows it (2 calls) was moved in step, to the front"}));
    EXPECT_EQ(said({exchange, reduce, {"store", output.calls}}), (Texts{"in all 30 iterations, output in step was renamed to store"}));
    EXPECT_EQ(said({exchange.calls[0], exchange.calls[1], reduce, output}), (Texts{"in all 30 iterations, exchange was inlined into step"}));
    EXPECT_EQ(said({exchange, {"sum", {reduce}}, output}), (Texts{"in all 30 iterations, sum was outlined from step"}));
    EXPECT_EQ(said({exchange, reduce, reduce, reduce, output}), (Texts{"in all 30 iterations, MPI_Allreduce is called 2 times more an iteration in step"}));
    EXPECT_EQ(said_of({usual, step_of({exchange, output})}, {0, 1, 0}), (Texts{"in iteration 2, MPI_Allreduce was removed from step, once an iteration"}));
}

TEST(ChangedCalls, OfSeveralOrdersAreOne) {
    const Call once = step_of({exchange, reduce, reduce, output}), often = step_of({exchange, reduce, reduce, reduce, reduce, output});
    EXPECT_EQ(said_of({usual, once, often}, {0, 1, 2, 0, 1}),
              (std::vector<std::string>{"in 3 iterations (2-3, 5), MPI_Allreduce is called 1 to 3 times more an iteration in step"}));
}

TEST(ChangedCalls, AreOfTheRanksThatMakeThem) {
    ProgramRun old(false), now(true);
    const Call more = step_of({exchange, reduce, output, {"MPI_Bcast", {}}});
    for (int rank = 0; rank < 4; ++rank) {
        old.rank({usual, more}, Rows(4));
        now.rank({usual, more}, rank == 0 ? Rows{0, 0, 0, 0} : rank == 3 ? Rows{1, 0, 0, 0} : Rows{0, 1, 0, 1});
    }
    EXPECT_EQ(texts(changed_calls(pairs_of(old, now, 4)), 4),
              (std::vector<std::string>{"in 2 iterations (2, 4), MPI_Bcast was added in step, once an iteration, on ranks 1-2",
                                        "in iteration 1, MPI_Bcast was added in step, once an iteration, on rank 3"}));
}

TEST(ChangedCalls, ASourceFileTellsFunctionsOfOneNameApart) {
    ProgramRun old(false), now(false);
    for (ProgramRun* run : {&old, &now}) run->rank({usual}, Rows(3));
    const auto rename_file = [](ProgramRun& run, const std::string& file) {
        for (Site& site : const_cast<Profile*>(run.ordered().profile)->sites)
            if (site.name.function == "output") site.name.file = file;
    };
    rename_file(now, "/src/new_file.c");
    EXPECT_TRUE(changed_calls(pairs_of(old, now, 3)).calls.empty()) << "a file that was renamed is no change of calls";
    // Now a function of that name in another file takes its place in a program that has both.
    for (ProgramRun* run : {&old, &now}) run->rank({step_of({{"exchange", {{"output", {{"MPI_Gather", {}}}}}}, output})}, Rows(3));
    for (ProgramRun* run : {&old, &now}) {
        rename_file(*run, "/src/output.c");
        auto& sites = const_cast<Profile*>(run->ordered().profile)->sites;
        const auto inner = std::find_if(sites.rbegin(), sites.rend(), [](const Site& site) { return site.name.function == "output"; });
        inner->name.file = run == &old ? "/src/a.c" : "/src/b.c";
    }
    const ChangedCalls found = changed_calls(pairs_of(old, now, 3));
    ASSERT_EQ(found.calls.size(), 1u);
    EXPECT_EQ(found.calls[0].kind, TreeChangeKind::Renamed);
}

TEST(ChangedCalls, WithoutAnOrderNothingIsTold) {
    ProgramRun old(false), now(true), none(true);
    old.rank({usual}, Rows(3));
    now.rank({step_of({exchange, output})}, Rows(3));
    none.rank({step_of({exchange, output})}, Rows(3));
    none.last_rank().phases[1].sequences.reset();
    const auto said = [&](const ProgramRun& a, const ProgramRun& b) { return changed_calls_text(changed_calls(pairs_of(a, b, 3)), 3, "old", "new", 4); };
    EXPECT_EQ(said(old, none), (std::vector<std::string>{"the order of calls is known of old only; record both runs with LIBPROFILE_ORDER=1"}));
    EXPECT_EQ(said(none, old), (std::vector<std::string>{"the order of calls is known of new only; record both runs with LIBPROFILE_ORDER=1"}));
    EXPECT_TRUE(said(none, none).empty());
    EXPECT_EQ(said(old, now).size(), 1u);
    now.last_rank().phases[1].sequences->number_of_iteration[1] = 0;
    const SequencePairs pairs = pairs_of(old, now, 3);
    EXPECT_EQ(pairs.unknown, 1u);
    EXPECT_EQ(changed_calls(pairs).calls.at(0).iterations, (Numbers{0, 2}));
    EXPECT_EQ(said(old, now).at(1), "the order of calls is not known of 1 of 3 iterations of ranks");
    now.last_rank().phases[1].sequences->sequences[0].is_too_long = true;
    EXPECT_EQ(pairs_of(old, now, 3).unknown, 3u) << "events are missing";
}

TEST(ChangedCalls, WhatIsNotLookedIntoIsSaid) {
    std::vector<Call> kinds = {usual};
    Rows kind_of;
    for (std::uint32_t i = 1; i <= 70; ++i) {
        kinds.push_back(step_of({exchange, reduce, output, {"MPI_New" + std::to_string(i), {}}}));
        kind_of.push_back(i);
    }
    ProgramRun old(false), now(false);
    old.rank(kinds, Rows(70));
    now.rank(kinds, kind_of);
    const ChangedCalls found = changed_calls(pairs_of(old, now, 70));
    EXPECT_EQ(found.different, 70u);
    EXPECT_EQ(found.untold, 6u);
    EXPECT_EQ(found.calls.size(), 64u);
    const std::vector<std::string> text = changed_calls_text(found, 70, "old", "new", 4);
    ASSERT_EQ(text.size(), 6u);
    EXPECT_EQ(text[4], "60 other changes of calls; --top N shows more, --format json all");
    EXPECT_TRUE(text[5].starts_with("of 6 of 70 iterations of ranks that differ inside")) << text[5];
}

/// Two ranks make the same calls, from the third event on by so much later.
SequencePairs late_pairs(ProgramRun& old, ProgramRun& now, std::uint64_t first_rank, std::uint64_t second_rank) {
    for (const std::uint64_t late : {first_rank, second_rank}) {
        old.rank({usual, step_of({output})}, every_tenth);
        now.rank({usual, step_of({output})}, every_tenth, {{2, late}});
    }
    return pairs_of(old, now, 30);
}

TEST(TypicalEvents, HaveTheMeansOfTheMostFrequentPair) {
    ProgramRun old(false), now(true);
    const TypicalEvents typical = typical_events(late_pairs(old, now, 400, 600));
    EXPECT_EQ(typical.iterations, 54u);
    EXPECT_EQ(typical.ranks, (Numbers{0, 1}));
    ASSERT_EQ(typical.events.size(), 4u);
    std::vector<std::string> calls;
    for (const TypicalEvent& event : typical.events) calls.push_back(event.call + " in " + event.caller);
    EXPECT_EQ(calls, (std::vector<std::string>{"MPI_Send in exchange", "MPI_Recv in exchange", "MPI_Allreduce in step", "MPI_Gather in output"}));
    for (std::size_t e = 0; e < 4; ++e) {
        EXPECT_DOUBLE_EQ(typical.events[e].begin_before, static_cast<double>(e * step_ns));
        EXPECT_DOUBLE_EQ(typical.events[e].later(), e < 2 ? 0 : 500);
        EXPECT_DOUBLE_EQ(typical.events[e].length_after, 500);
        EXPECT_DOUBLE_EQ(typical.events[e].least_added, e == 2 ? 400 : 0);
        EXPECT_DOUBLE_EQ(typical.events[e].most_added, e == 2 ? 600 : 0);
    }
    const std::vector<std::string> text = typical_events_text(typical, 399, "old");
    EXPECT_EQ(text,
              (std::vector<std::string>{"in the most frequent iteration, MPI_Allreduce in step begins 500 ns later: 2.50 µs after its begin, old 2.00 µs"}));
    EXPECT_TRUE(typical_events_text(typical, 401, "old").empty()) << "on rank 0 that may be noise";
    EXPECT_TRUE(typical_events_text(typical, std::numeric_limits<double>::quiet_NaN(), "old").empty());
}

TEST(TypicalEvents, ACallThatTakesLongerMakesTheNextOneLaterButAddsNothingBeforeIt) {
    ProgramRun old(false), now(true);
    old.rank({usual}, Rows(3));
    now.rank({usual}, Rows(3), {{2, 300}});
    std::vector<SequenceEvent>& events = now.last_rank().phases[1].sequences->sequences[0].events; // in the order of ends
    events[2].length_sum += 3 * 300;                                                               // MPI_Recv
    const TypicalEvents typical = typical_events(pairs_of(old, now, 3));
    ASSERT_EQ(typical.events.size(), 4u);
    EXPECT_DOUBLE_EQ(typical.events[2].later(), 300);
    EXPECT_DOUBLE_EQ(typical.events[2].most_added, 0);
    EXPECT_TRUE(typical_events_text(typical, 10, "old").empty());
}

TEST(TypicalEvents, ArePartnersBelowARenamedFunctionToo) {
    ProgramRun old(false), now(true);
    old.rank({usual}, Rows(3));
    now.rank({step_of({{"MPI_New", {}}, {"swap", exchange.calls}, reduce, output})}, Rows(3));
    const TypicalEvents typical = typical_events(pairs_of(old, now, 3));
    ASSERT_EQ(typical.events.size(), 4u);
    for (const TypicalEvent& event : typical.events) EXPECT_DOUBLE_EQ(event.later(), step_ns) << event.call;
    EXPECT_EQ(typical.events[0].caller, "exchange");
}

TEST(TypicalEvents, InARowAreOneWhoseBeginIsThatOfTheFirst) {
    ProgramRun old(false), now(false);
    for (ProgramRun* run : {&old, &now}) {
        run->rank({usual}, Rows(3));
        SequenceEvent& last = run->last_rank().phases[1].sequences->sequences[0].events.front(); // MPI_Gather: they are in the order of ends
        last.count = run == &old ? 3 : 5;
        last.length_sum *= 2;
    }
    const TypicalEvents typical = typical_events(pairs_of(old, now, 3));
    ASSERT_EQ(typical.events.size(), 4u);
    EXPECT_EQ(typical.events[3].count, 3u);
    EXPECT_DOUBLE_EQ(typical.events[3].length_after, step_ns);
    EXPECT_EQ(texts(changed_calls(pairs_of(old, now, 3)), 3),
              (std::vector<std::string>{"in all 3 iterations, MPI_Gather is called 2 times more an iteration in output"}));
}

} // namespace
} // namespace libprofile::tools
