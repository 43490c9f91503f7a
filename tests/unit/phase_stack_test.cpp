#include "libprofile/phases/phase_stack.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <new>
#include <random>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace libprofile {

namespace {

class PhaseStackTest : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(tree_.start());
        ASSERT_TRUE(stack_.start(0, 0, {4, EquivalenceChoice::Auto, 0, true, true, {}}));
    }
    std::vector<std::uint64_t> walls(const char* name) {
        std::vector<std::uint64_t> found;
        phase(name).iteration_walls.for_each(UINT64_MAX, [&](std::uint64_t wall) { found.push_back(wall); });
        return found;
    }
    /// As whoever reads will see it.
    Phase& phase(const char* name) {
        stack_.iterations().do_pending_work();
        return phase_as_it_is(name);
    }
    Phase& phase_as_it_is(const char* name) {
        for (std::size_t i = 0; i < stack_.all().size(); ++i)
            if (std::strcmp(stack_.all()[i].name, name) == 0) return stack_.all()[i];
        ADD_FAILURE() << "no phase " << name;
        return stack_.all()[0];
    }
    /// Exclusive time of all call paths of a phase: clusters and rest.
    static std::uint64_t cell_time(Phase& phase) {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < phase.rows.size(); ++i) sum += phase.rows[i][Metric::Time];
        if (phase.clusterer == nullptr) return sum;
        for (std::uint32_t c = 0; c < phase.clusterer->cluster_count(); ++c) {
            const IterationProfile& sums = phase.clusterer->cluster(c).sums;
            for (std::uint32_t i = 0; i < sums.size; ++i)
                if (sums.cells[i].metric() == 0) sum += sums.cells[i].value;
        }
        return sum;
    }
    /// Time of a phase while it was paused.
    std::uint64_t not_recorded(Phase& phase) {
        const Row* open = phase.rows.find(tree_.not_recorded());
        std::uint64_t sum = open == nullptr ? 0 : (*open)[Metric::Time];
        for (std::uint32_t c = 0; phase.clusterer != nullptr && c < phase.clusterer->cluster_count(); ++c) {
            const IterationProfile& sums = phase.clusterer->cluster(c).sums;
            for (std::uint32_t i = 0; i < sums.size; ++i)
                if (sums.cells[i].node() == tree_.not_recorded() && sums.cells[i].metric() == 0) sum += sums.cells[i].value;
        }
        return sum;
    }
    /// A nanosecond later.
    void begin(PhaseKind kind, const char* name) {
        ++now_;
        stack_.begin(kind, name, now_, now_);
    }
    void end(PhaseKind kind, const char* name) {
        ++now_;
        stack_.end(kind, name, now_, now_);
    }
    void event(unsigned function, std::uint64_t ns) {
        Row& row = stack_.row(tree_.child(0, NodeKind::Mpi, function, 0));
        row.is_event = true;
        ++row[Metric::Visits];
        row[Metric::Time] += ns;
        stack_.time().book_event(ns, ns);
        now_ += ns;
    }
    void begin_polls(const char* site, const void* path, PollStatistics& statistics, Row& row, std::uint64_t now, std::uint64_t first_ns,
                     std::uint64_t own_ns) {
        stack_.time().polls().begin(site, path, statistics, row, now, first_ns, own_ns, stack_.time().booked().wall_ns());
    }
    /// One more of the run, as MPI events do it. Returns true if it is to be timed.
    bool poll() {
        PollRun& run = stack_.time().polls();
        if (run.next.left == 0) return run.is_due();
        --run.next.left;
        return false;
    }
    Arena arena_;
    Pool pool_{arena_};
    CallTree tree_{arena_};
    PhaseStack stack_{tree_, arena_, pool_};
    std::uint64_t now_ = 0;
};

} // namespace

TEST_F(PhaseStackTest, APhaseIsWhatItsNameSaysNotWhereTheNameLies) {
    char name[PhaseList::max_name + 10] = "first";
    char same[] = "first";
    begin(PhaseKind::Iterations, name);
    end(PhaseKind::Iterations, same);
    std::strcpy(name, "second"); // at the same place
    begin(PhaseKind::Iterations, name);
    end(PhaseKind::Iterations, name);
    begin(PhaseKind::Aggregate, name); // of another kind
    end(PhaseKind::Aggregate, name);
    ASSERT_EQ(stack_.all().size(), 4u);
    EXPECT_EQ(phase("first").instances, 1u);
    EXPECT_EQ(walls("second").size(), 1u);
    std::memset(name, 'n', sizeof name - 1); // longer than what is kept of it
    for (int i = 0; i < 3; ++i) {
        begin(PhaseKind::Iterations, name);
        end(PhaseKind::Iterations, name);
        name[PhaseList::max_name] = static_cast<char>('a' + i);
    }
    EXPECT_EQ(stack_.all().size(), 5u);
    EXPECT_EQ(stack_.all()[4].instances, 3u);
    EXPECT_EQ(stack_.repairs().count(), 0u);
}

TEST_F(PhaseStackTest, IterationsKnowWhatLayInsideThem) {
    const auto sweep = [&](bool is_nested) {
        begin(PhaseKind::Iterations, "sweep");
        if (is_nested) {
            begin(PhaseKind::Aggregate, "nap");
            now_ += 5;
            end(PhaseKind::Aggregate, "nap");
        }
        end(PhaseKind::Iterations, "sweep");
    };
    sweep(false); // number 0, in no step
    for (int step = 0; step < 3; ++step) {
        begin(PhaseKind::Iterations, "step");
        begin(PhaseKind::Aggregate, "all sweeps"); // not between the step and its sweeps
        for (int i = 0; i < step; ++i) sweep(step == 2);
        now_ += 10;
        end(PhaseKind::Aggregate, "all sweeps");
        end(PhaseKind::Iterations, "step");
        begin(PhaseKind::Aggregate, "outside");
        end(PhaseKind::Aggregate, "outside");
    }
    const std::uint32_t sweeps = phase("sweep").number, all = phase("all sweeps").number, nap = phase("nap").number;
    using Numbers = std::vector<std::uint64_t>;
    const auto inside = [&](const char* name) {
        Numbers numbers;
        std::uint64_t value = 0;
        unsigned shift = 0;
        phase(name).inside.for_each_piece([&](const unsigned char* bytes, std::size_t size) {
            for (std::size_t i = 0; i < size; ++i) {
                value |= std::uint64_t{bytes[i] & 0x7fu} << shift;
                shift += 7;
                if ((bytes[i] & 0x80) != 0) continue;
                numbers.push_back(value);
                value = shift = 0;
            }
        });
        return numbers;
    };
    // Iterations left out, entries, then the newest phase first: number, count, and the first iteration or the time.
    EXPECT_EQ(inside("step"), (Numbers{0, 1, all, 1, 11, 0, 2, sweeps, 1, 1, all, 1, 12, 0, 2, sweeps, 2, 2, all, 1, 13}));
    EXPECT_EQ(inside("sweep"), (Numbers{2, 1, nap, 1, 6, 0, 1, nap, 1, 6}));
    EXPECT_TRUE(phase("outside").inside.is_empty());
}

TEST_F(PhaseStackTest, IterationsThatLieElsewhereTooAreNotSaidToBeInside) {
    // inner 0, then middle { inner 1 }, then inner 2: those of outer itself do not follow each other.
    const auto inner = [&] {
        begin(PhaseKind::Iterations, "inner");
        end(PhaseKind::Iterations, "inner");
    };
    for (int i = 0; i < 2; ++i) {
        begin(PhaseKind::Iterations, "outer");
        inner();
        if (i == 0) {
            begin(PhaseKind::Iterations, "middle");
            inner();
            end(PhaseKind::Iterations, "middle");
        }
        inner();
        end(PhaseKind::Iterations, "outer");
    }
    EXPECT_EQ(phase("outer").inside.records(), 2u);
    EXPECT_EQ(phase("outer").inside.bytes(), 2u + 3 + 2 + 3); // the first has middle alone, the second inner alone
    EXPECT_EQ(phase("middle").inside.records(), 1u);
}

TEST_F(PhaseStackTest, TimeBelongsToTheInnermostPhase) {
    stack_.begin(PhaseKind::Iterations, "step", 10, 10);
    stack_.begin(PhaseKind::Aggregate, "solve", 30, 30);
    stack_.end(PhaseKind::Aggregate, "solve", 70, 70);
    stack_.end(PhaseKind::Iterations, "step", 100, 100);
    stack_.finish(150, 150);
    EXPECT_EQ(phase("").wall_ns, 60u);
    EXPECT_EQ(phase("step").wall_ns, 50u);
    EXPECT_EQ(phase("solve").wall_ns, 40u);
    EXPECT_EQ(phase("step").wall_inclusive_ns, 90u);
    EXPECT_EQ(phase("").wall_inclusive_ns, 150u);
    EXPECT_EQ(stack_.repairs().count(), 0u);
}

TEST_F(PhaseStackTest, PhasesPartitionTheWallTimeWhateverTheMarkersDo) {
    std::mt19937_64 random(3);
    const char* names[] = {"a", "b", "c", "d"};
    std::uint64_t cpu = 0;
    for (int i = 0; i < 5000; ++i) {
        if (random() % 3 == 0) event(static_cast<unsigned>(random() % 3), random() % 500);
        const std::uint64_t step = random() % 1000;
        now_ += step;
        cpu += random() % (step + 500); // the CPU clock may run ahead of what is left for it
        const auto kind = random() % 2 == 0 ? PhaseKind::Iterations : PhaseKind::Aggregate;
        const char* name = names[random() % 4];
        if (random() % 2 == 0)
            stack_.begin(kind, name, now_, cpu);
        else
            stack_.end(kind, name, now_, cpu);
        if (random() % 5 == 0) stack_.settle(now_, cpu);
        if (random() % 5 == 0) {
            const std::uint64_t off = random() % 700;
            stack_.pause(now_, cpu);
            if (random() % 2 == 0) stack_.begin(PhaseKind::Iterations, "a", now_ + off / 2, cpu);
            stack_.resume(now_ += off, cpu += off / 2);
        }
        if (random() % 4 == 0) stack_.book_samples(tree_.child(0, NodeKind::Unknown, 0, random() % 9), 1, random() % 100);
    }
    stack_.finish(now_, cpu);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < stack_.all().size(); ++i) {
        Phase& p = stack_.all()[i];
        sum += p.wall_ns;
        EXPECT_EQ(cell_time(p), p.wall_ns) << "phase " << p.name;
    }
    EXPECT_EQ(sum, now_);
    EXPECT_GT(stack_.repairs().count(), 0u);
}

TEST_F(PhaseStackTest, APauseIsBookedInThePhasesThatWereOpen) {
    stack_.begin(PhaseKind::Iterations, "step", 10, 10);
    stack_.pause(30, 30);
    stack_.end(PhaseKind::Iterations, "step", 70, 70);
    stack_.begin(PhaseKind::Iterations, "step", 80, 80); // wholly off
    stack_.end(PhaseKind::Iterations, "step", 100, 90);
    stack_.begin(PhaseKind::Iterations, "step", 110, 95);
    stack_.resume(125, 105);
    stack_.end(PhaseKind::Iterations, "step", 150, 130);
    stack_.finish(160, 140);
    EXPECT_EQ(not_recorded(phase("step")), 40u + 20u + 15u);
    EXPECT_EQ(not_recorded(phase("")), 10u + 10u);
    for (const char* name : {"step", ""}) EXPECT_EQ(cell_time(phase(name)), phase(name).wall_ns);
    EXPECT_EQ(phase("step").clusterer->iterations(), 3u);
    EXPECT_EQ(walls("step").at(1), 20u);
    EXPECT_EQ(stack_.repairs().count(), 0u);
}

TEST_F(PhaseStackTest, AnIterationThatWasWhollyOffHasNotRecordedTimeOnly) {
    stack_.pause(0, 0);
    stack_.begin(PhaseKind::Iterations, "step", 10, 0);
    stack_.end(PhaseKind::Iterations, "step", 100, 50);
    const IterationProfile& sums = phase("step").clusterer->cluster(0).sums;
    ASSERT_EQ(sums.size, 1u);
    EXPECT_EQ(sums.cells[0].node(), tree_.not_recorded());
    EXPECT_EQ(sums.cells[0].value, 90u);
}

TEST_F(PhaseStackTest, ProcessorTimeOfAPauseIsNotComputation) {
    stack_.pause(100, 100);
    stack_.resume(600, 400); // 300 of 500 ns on the processor
    stack_.finish(700, 450);
    EXPECT_EQ(not_recorded(phase("")), 500u);
    EXPECT_EQ(phase("").rows.row(tree_.not_sampled(), tree_, arena_)[Metric::Time], 150u);
    EXPECT_EQ(phase("").rows.row(tree_.off_cpu(), tree_, arena_)[Metric::Time], 50u);
}

TEST_F(PhaseStackTest, TimeOffTheProcessorIsBookedAtItsPlaceOrAtTheRoot) {
    const NodeId function = tree_.child(0, NodeKind::Unknown, 0, 1);
    stack_.begin(PhaseKind::Iterations, "step", 100, 50);
    EXPECT_EQ(stack_.time().look(150, 90, 20).ns, 0u); // 10 ns: too short
    stack_.time().book_event(100, 60);                 // slept 40 ns in it
    stack_.time().book_overhead(20);
    const WallLedger::Absence away = stack_.time().look(450, 200, 20);
    EXPECT_EQ(away.ns, 150u); // 300 ns: 120 inside, 110 of the processor, of which 30 outside
    EXPECT_EQ(away.since, 150u);
    const NodeId place = stack_.book_off_cpu(function, away.ns);
    ASSERT_NE(place, 0u);
    EXPECT_EQ(tree_[place].parent, function);
    EXPECT_EQ(tree_[place].kind, NodeKind::OffCpu);
    stack_.end(PhaseKind::Iterations, "step", 500, 220);
    EXPECT_EQ(stack_.time().look(500, 220, 1).ns, 0u); // nothing twice
    stack_.finish(500, 220);
    const IterationProfile& sums = phase("step").clusterer->cluster(0).sums;
    std::map<NodeId, std::uint64_t> times;
    for (std::uint32_t i = 0; i < sums.size; ++i)
        if (sums.cells[i].metric() == 0) times[sums.cells[i].node()] = sums.cells[i].value;
    // 400 ns: 100 in the event, which has no row here, and 20 ours; outside 280, of them 90 on the processor.
    EXPECT_EQ(times, (std::map<NodeId, std::uint64_t>{{place, 150}, {tree_.off_cpu(), 40}, {tree_.not_sampled(), 90}, {tree_.overhead(), 20}}));
}

TEST_F(PhaseStackTest, TimeOffTheProcessorIsNotOurOwn) {
    const NodeId function = tree_.child(0, NodeKind::Unknown, 0, 1);
    ASSERT_EQ(stack_.time().look(900, 100, 1).ns, 800u);
    stack_.book_off_cpu(function, 800);
    stack_.time().book_overhead(500); // an estimate, too large
    stack_.finish(1000, 200);
    EXPECT_EQ(cell_time(phase("")), 1000u);
    EXPECT_EQ(phase("").rows.row(tree_.overhead(), tree_, arena_)[Metric::Time], 200u);
    EXPECT_EQ(phase("").rows.row(tree_.off_cpu(), tree_, arena_)[Metric::Time], 0u);
}

TEST_F(PhaseStackTest, WhatIsSettledIsCompleteAndNothingIsCountedTwice) {
    stack_.begin(PhaseKind::Iterations, "step", 10, 10);
    event(1, 20);
    stack_.settle(50, 40);
    EXPECT_EQ(phase("step").wall_ns, 40u);
    EXPECT_EQ(cell_time(phase("step")), 40u);
    EXPECT_EQ(cell_time(phase("")), 10u);
    stack_.pause(60, 50);
    stack_.settle(70, 50);
    EXPECT_EQ(cell_time(phase("step")), 60u);
    stack_.end(PhaseKind::Iterations, "step", 90, 70);
    stack_.finish(100, 80);
    EXPECT_EQ(phase("step").clusterer->iterations(), 1u);
    EXPECT_EQ(walls("step").at(0), 80u);
    EXPECT_EQ(cell_time(phase("step")), 80u);
    EXPECT_EQ(not_recorded(phase("step")), 30u);
    EXPECT_EQ(not_recorded(phase("")), 10u);
}

TEST_F(PhaseStackTest, LoopsMarkedAtTheirTopNeedNoRepair) {
    stack_.end_if_open(PhaseKind::Iterations, "never", 5, 5);
    for (std::uint64_t i = 0; i < 3; ++i) {
        stack_.next_iteration("outer", 100 * i, 0);
        for (std::uint64_t k = 0; k < 4; ++k) stack_.next_iteration("inner", 100 * i + 10 * k + 10, 0);
        stack_.end_if_open(PhaseKind::Iterations, "inner", 100 * i + 90, 0);
    }
    stack_.end_if_open(PhaseKind::Iterations, "outer", 300, 0);
    stack_.finish(310, 0);
    EXPECT_EQ(phase("outer").clusterer->iterations(), 3u);
    EXPECT_EQ(phase("inner").clusterer->iterations(), 12u);
    EXPECT_EQ(phase("outer").wall_inclusive_ns, 300u);
    EXPECT_EQ(phase("inner").wall_ns, 3 * 80u);
    EXPECT_EQ(stack_.repairs().count(), 0u);
}

TEST_F(PhaseStackTest, WhatSamplesStandForIsKeptAndSumsAreExact) {
    const NodeId a = tree_.child(0, NodeKind::Unknown, 0, 1);
    const NodeId b = tree_.child(0, NodeKind::Unknown, 0, 2);
    stack_.begin(PhaseKind::Iterations, "step", 0, 0);
    stack_.book_samples(a, 1, 100);
    stack_.book_samples(b, 3, 3000); // of time before the iteration, too
    stack_.end(PhaseKind::Iterations, "step", 1000, 800);
    stack_.finish(1000, 800);
    const IterationProfile& sums = phase("step").clusterer->cluster(0).sums;
    std::map<NodeId, std::uint64_t> times, samples;
    for (std::uint32_t i = 0; i < sums.size; ++i) (sums.cells[i].metric() == 0 ? times : samples)[sums.cells[i].node()] = sums.cells[i].value;
    EXPECT_EQ(times, (std::map<NodeId, std::uint64_t>{{a, 100}, {b, 3000}, {tree_.not_sampled(), std::uint64_t{800} - 3100}, {tree_.off_cpu(), 200}}));
    EXPECT_EQ(samples, (std::map<NodeId, std::uint64_t>{{a, 1}, {b, 3}, {tree_.not_sampled(), 3}})); // three of 1 us: the sum of their squares
    EXPECT_EQ(cell_time(phase("step")), 1000u);
}

TEST_F(PhaseStackTest, SamplesWithoutRoomForTheirPathAreCountedAndLeaveTheirTimeToTheOthers) {
    const NodeId a = tree_.child(0, NodeKind::Unknown, 0, 1);
    stack_.book_samples(a, 1, 100);
    stack_.book_samples(tree_.quota(), 3, 3000); // more than all of the computing time
    stack_.finish(1000, 800);
    const auto value = [&](NodeId node, Metric metric) { return phase("").rows.row(node, tree_, arena_)[metric]; };
    EXPECT_EQ(value(tree_.quota(), Metric::Samples), 3u);
    EXPECT_EQ(value(tree_.quota(), Metric::Time), 0u);
    EXPECT_EQ(value(tree_.not_sampled(), Metric::Time), 700u);
    EXPECT_EQ(cell_time(phase("")), 1000u);
}

TEST_F(PhaseStackTest, ASegmentEndsAfterAllThatIsBookedInIt) {
    const NodeId function = tree_.child(0, NodeKind::Unknown, 0, 1);
    ASSERT_EQ(stack_.time().look(50, 0, 1).ns, 50u);
    stack_.book_off_cpu(function, 50);
    stack_.time().book_event(40, 40); // from 50 to 90
    EXPECT_EQ(stack_.time().earliest_end(), 90u);
    stack_.row(function)[Metric::Time] += 40;
    stack_.finish(stack_.time().earliest_end(), 40);
    EXPECT_EQ(cell_time(phase("")), 90u);
}

TEST_F(PhaseStackTest, SquaresOfTheTimesOfSamplesGoWithThem) {
    const NodeId a = tree_.child(0, NodeKind::Unknown, 0, 1);
    const auto squares = [&] { return phase("").rows.row(tree_.not_sampled(), tree_, arena_)[Metric::Samples]; };
    stack_.book_samples(a, 1, 1000000);
    stack_.book_samples(a, 1, 10000000);
    EXPECT_EQ(squares(), 1000u * 1000 + 10000u * 10000); // us^2
    stack_.book_samples(a, std::uint64_t{0} - 1, std::uint64_t{0} - 1000000);
    EXPECT_EQ(squares(), 10000u * 10000);
    for (int i = 0; i < 4; ++i) stack_.book_samples(a, 1, 4000900);
    stack_.book_samples(a, std::uint64_t{0} - 1, std::uint64_t{0} - 10000000);
    stack_.book_samples(a, std::uint64_t{0} - 4, std::uint64_t{0} - 4 * 4000900); // folded, as in the log of a loop search
    EXPECT_EQ(squares(), 0u);
    stack_.finish(20000000, 20000000);
}

TEST_F(PhaseStackTest, SettlingIsUndoneBySamplesToo) {
    const NodeId a = tree_.child(0, NodeKind::Unknown, 0, 1);
    stack_.book_samples(a, 1, 70);
    const PhaseStack::Unsettled kept = stack_.keep(100);
    stack_.settle(100, 80);
    EXPECT_EQ(cell_time(phase("")), 100u);
    stack_.put_back(kept);
    stack_.book_samples(a, std::uint64_t{0} - 1, std::uint64_t{0} - 70); // as when a pass of the past turns out to have had it
    stack_.finish(200, 150);
    EXPECT_EQ(cell_time(phase("")), 200u);
    EXPECT_EQ(phase("").rows.row(tree_.not_sampled(), tree_, arena_)[Metric::Time], 150u);
}

TEST_F(PhaseStackTest, AnIterationWithoutASampleGoesToNotSampled) {
    stack_.begin(PhaseKind::Iterations, "step", 0, 0);
    stack_.end(PhaseKind::Iterations, "step", 100, 100);
    const IterationProfile& sums = phase("step").clusterer->cluster(0).sums;
    ASSERT_EQ(sums.size, 1u);
    EXPECT_EQ(sums.cells[0].node(), tree_.not_sampled());
    EXPECT_EQ(sums.cells[0].value, 100u);
}

TEST_F(PhaseStackTest, BeginOfAnOpenPhaseClosesItFirst) {
    stack_.begin(PhaseKind::Iterations, "step", 0, 0);
    stack_.begin(PhaseKind::Iterations, "step", 50, 50);
    stack_.end(PhaseKind::Iterations, "step", 90, 90);
    stack_.finish(100, 100);
    EXPECT_EQ(phase("step").clusterer->iterations(), 2u);
    EXPECT_EQ(phase("step").wall_ns, 90u);
    EXPECT_EQ(stack_.repairs().count(), 1u);
    EXPECT_STREQ(stack_.repairs().first(), "begin of the already open \"step\"");
}

TEST_F(PhaseStackTest, EndClosesWhatIsOpenInside) {
    stack_.begin(PhaseKind::Iterations, "step", 0, 0);
    stack_.begin(PhaseKind::Aggregate, "solve", 10, 10);
    stack_.end(PhaseKind::Iterations, "step", 20, 20);
    stack_.end(PhaseKind::Aggregate, "solve", 30, 30);
    stack_.finish(40, 40);
    EXPECT_EQ(phase("solve").wall_ns, 10u);
    EXPECT_EQ(phase("step").wall_ns, 10u);
    EXPECT_EQ(stack_.repairs().count(), 2u);
}

TEST_F(PhaseStackTest, TooDeepNestingIsRefusedNotFatal) {
    std::vector<std::string> names;
    for (int i = 0; i < 200; ++i) names.push_back("level" + std::to_string(i));
    for (const std::string& name : names) stack_.begin(PhaseKind::Aggregate, name.c_str(), now_++, 0);
    for (auto name = names.rbegin(); name != names.rend(); ++name) stack_.end(PhaseKind::Aggregate, name->c_str(), now_++, 0);
    stack_.finish(now_, 0);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < stack_.all().size(); ++i) sum += stack_.all()[i].wall_ns;
    EXPECT_EQ(sum, now_);
    EXPECT_GT(stack_.repairs().count(), 0u);
}

TEST_F(PhaseStackTest, WithoutMemoryIterationsAreFoldedAndTotalsStayExact) {
    memory_quota.limit(memory_quota.used());
    for (std::uint64_t i = 0; i < 20000; ++i) {
        stack_.begin(PhaseKind::Iterations, "step", now_, now_);
        stack_.row(tree_.child(0, NodeKind::Mpi, static_cast<std::uint32_t>(i % 3), i)).is_event = true;
        event(static_cast<unsigned>(i % 3), 100);
        stack_.end(PhaseKind::Iterations, "step", now_, now_);
    }
    memory_quota.limit(256ull << 20);
    stack_.finish(now_, now_);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < stack_.all().size(); ++i) {
        sum += stack_.all()[i].wall_ns;
        EXPECT_EQ(cell_time(stack_.all()[i]), stack_.all()[i].wall_ns);
    }
    EXPECT_EQ(sum, now_);
    EXPECT_GT(stack_.losses(), 0u);
}

TEST_F(PhaseStackTest, PollsOfARunShareItsTimeAndNoMore) {
    event(0, 100); // the first unsuccessful one
    Row& row = stack_.row(tree_.child(0, NodeKind::Mpi, 0, 0));
    PollStatistics statistics;
    begin_polls("here", nullptr, statistics, row, now_, 100, 20);
    stack_.time().polls().untimed = 10;
    stack_.time().polls().timed = 2;
    stack_.time().polls().timed_ns = 100;
    row[Metric::Time] += 100; // the timed ones are booked at once
    stack_.time().book_event(100, 100);
    stack_.time().end_polls(now_ + 10000); // ten polls of 50 ns in a run of 10 us
    EXPECT_EQ(row[Metric::Time], 100u + 100u + 500u);
    EXPECT_EQ(row[Metric::TimedTogether], 10u);
    stack_.finish(now_ + 10000, now_ + 10000);
    EXPECT_EQ(cell_time(phase("")), now_ + 10000);
}

TEST_F(PhaseStackTest, PollsNeverLastLongerThanTheirRun) {
    event(0, 100);
    Row& row = stack_.row(tree_.child(0, NodeKind::Mpi, 0, 0));
    PollStatistics statistics;
    begin_polls("here", nullptr, statistics, row, now_, 100, 20);
    stack_.time().polls().untimed = 1000; // 100 ns each by the first, but there were 5 us
    stack_.time().end_polls(now_ + 5000);
    EXPECT_EQ(row[Metric::Time], 100u + 5000u);
    stack_.finish(now_ + 5000, now_ + 5000);
    EXPECT_EQ(cell_time(phase("")), now_ + 5000);
}

TEST_F(PhaseStackTest, ThePollThatFindsSomethingLastsAsLongAsThoseThatDid) {
    event(0, 100);
    Row& row = stack_.row(tree_.child(0, NodeKind::Mpi, 0, 0));
    PollStatistics statistics;
    for (int i = 0; i < 20; ++i) statistics.add(true, 4000);
    for (int i = 0; i < 20; ++i) statistics.add(false, 100);
    EXPECT_FALSE(statistics.finds_cheaply());
    begin_polls("here", nullptr, statistics, row, now_, 100, 0);
    stack_.time().polls().untimed = 5;
    stack_.time().polls().found_untimed = 1;
    stack_.time().end_polls(now_ + 100000);
    EXPECT_EQ(row[Metric::Time], 100u + 5u * 100u + 4000u);
    EXPECT_EQ(row[Metric::TimedTogether], 6u);
}

TEST_F(PhaseStackTest, ShortRunsAreTimedUntilFindingIsKnownToBeCheap) {
    Row& row = stack_.row(tree_.child(0, NodeKind::Mpi, 0, 0));
    PollStatistics statistics;
    begin_polls("here", nullptr, statistics, row, now_, 100, 0);
    for (std::uint32_t i = 0; i < PollRun::short_run; ++i) ASSERT_TRUE(stack_.time().polls().is_due());
    int timed = 0;
    for (int i = 0; i < 11000; ++i) timed += poll() ? 1 : 0;
    EXPECT_GT(timed, 60);
    EXPECT_LT(timed, 180);
    for (int i = 0; i < 20; ++i) statistics.add(true, 150);
    for (int i = 0; i < 20; ++i) statistics.add(false, 100);
    begin_polls("here", nullptr, statistics, row, now_, 100, 0);
    timed = 0;
    for (std::uint32_t i = 0; i < PollRun::short_run; ++i) timed += poll() ? 1 : 0;
    EXPECT_LT(timed, 20);
}

TEST_F(PhaseStackTest, CallsThatNeedNoLookGoOnInTheNextRun) {
    Row& row = stack_.row(tree_.child(0, NodeKind::Mpi, 0, 0));
    PollStatistics statistics;
    for (int i = 0; i < 20; ++i) statistics.add(true, 100);
    for (int i = 0; i < 20; ++i) statistics.add(false, 100);
    int timed = 0;
    for (int run = 0; run < 2100; ++run) { // of ten polls each: of a wait so short most have none that is timed
        begin_polls("here", nullptr, statistics, row, now_, 100, 0);
        EXPECT_EQ(stack_.time().polls().next.left, 0u);
        for (int i = 0; i < 10; ++i) timed += poll() ? 1 : 0;
        stack_.time().end_polls(now_ += 1000);
        EXPECT_EQ(stack_.time().polls().next.left, 0u);
    }
    EXPECT_GT(timed, 1500);
    EXPECT_LT(timed, 2500);
}

TEST_F(PhaseStackTest, ARunOfPollsEndsWithItsPhase) {
    stack_.begin(PhaseKind::Iterations, "loop", now_, now_);
    event(0, 100);
    Row& row = stack_.row(tree_.child(0, NodeKind::Mpi, 0, 0));
    PollStatistics statistics;
    begin_polls("here", nullptr, statistics, row, now_, 100, 0);
    stack_.time().polls().untimed = 3;
    stack_.end(PhaseKind::Iterations, "loop", now_ + 1000, now_ + 1000);
    EXPECT_EQ(stack_.time().polls().site, nullptr);
    stack_.finish(now_ + 2000, now_ + 2000);
    EXPECT_EQ(cell_time(phase("loop")), 1100u);
    EXPECT_EQ(cell_time(phase("")), 1000u);
}

TEST_F(PhaseStackTest, ShortIterationsWaitForTheirClustersUntilManyHaveEnded) {
    const auto iterate = [this](const char* name) {
        stack_.begin(PhaseKind::Iterations, name, now_, now_);
        event(1, 100);
        stack_.end(PhaseKind::Iterations, name, now_, now_);
    };
    for (int i = 0; i < 8; ++i) iterate("step");
    for (int i = 0; i < 8; ++i) iterate("solve"); // of any phase
    EXPECT_EQ(phase_as_it_is("step").clusterer->iterations(), 0u);
    EXPECT_EQ(phase_as_it_is("solve").clusterer->iterations(), 0u);
    iterate("solve");
    EXPECT_EQ(phase_as_it_is("step").clusterer->iterations(), 8u);
    EXPECT_EQ(phase_as_it_is("solve").clusterer->iterations(), 8u);
    stack_.iterations().do_pending_work();
    EXPECT_EQ(phase_as_it_is("solve").clusterer->iterations(), 9u);
    EXPECT_EQ(phase_as_it_is("solve").series->iterations(), 9u);
    iterate("step");
    stack_.settle(now_, now_); // somebody reads
    EXPECT_EQ(phase_as_it_is("step").clusterer->iterations(), 9u);
    iterate("step");
    stack_.finish(now_, now_);
    EXPECT_EQ(phase_as_it_is("step").clusterer->iterations(), 10u);
    EXPECT_EQ(cell_time(phase_as_it_is("step")), phase_as_it_is("step").wall_ns);
}

TEST_F(PhaseStackTest, LongIterationsWaitForTheNextOnly) {
    const auto iterate = [this](std::uint64_t ns) {
        stack_.begin(PhaseKind::Iterations, "step", now_, now_);
        event(1, ns);
        stack_.end(PhaseKind::Iterations, "step", now_, now_);
    };
    for (int i = 0; i < 3; ++i) iterate(500000000);
    EXPECT_EQ(phase_as_it_is("step").clusterer->iterations(), 2u);
    for (int i = 0; i < 3; ++i) iterate(125000000); // two take 250 ms
    EXPECT_EQ(phase_as_it_is("step").clusterer->iterations(), 5u);
    EXPECT_EQ(phase("step").clusterer->iterations(), 6u);
}

TEST_F(PhaseStackTest, RanksInStepWithSlightlyDifferentTimesDoTheirWorkAtTheSameIteration) {
    const auto done_after_nine = [this](const char* name, std::uint64_t ns) {
        for (int i = 0; i < 9; ++i) {
            stack_.begin(PhaseKind::Iterations, name, now_, now_);
            event(1, ns);
            stack_.end(PhaseKind::Iterations, name, now_, now_);
        }
        const std::uint64_t done = phase_as_it_is(name).clusterer->iterations();
        phase(name); // does the rest
        return done;
    };
    EXPECT_EQ(done_after_nine("early", 19000000), 8u); // 13 take 250 ms
    EXPECT_EQ(done_after_nine("late", 20500000), 8u);  // 12
}

TEST_F(PhaseStackTest, AnIterationThatNoClusterTakesStaysInTheRest) {
    PhaseStack strict(tree_, arena_, pool_);
    ASSERT_TRUE(strict.start(0, 0, {4, EquivalenceChoice::Strong, 0, true, true, {}}));
    std::uint64_t now = 0;
    const auto iterate = [&](std::uint64_t visits) { // a class, and a cluster, for each number of visits
        strict.begin(PhaseKind::Iterations, "step", now, now);
        Row& row = strict.row(tree_.child(0, NodeKind::Mpi, 1, 0));
        row.is_event = true;
        row[Metric::Visits] += visits;
        row[Metric::Time] += 100;
        strict.time().book_event(100, 100);
        now += 100;
        strict.end(PhaseKind::Iterations, "step", now, now);
    };
    const std::uint64_t quota = memory_quota.limit();
    iterate(1);
    iterate(2);
    memory_quota.limit(0); // what the arena and the pool still have does not last
    for (std::uint64_t i = 3; i < 6000; ++i) iterate(i);
    memory_quota.limit(quota);
    iterate(6000);
    strict.finish(now, now);
    Phase& step = strict.all()[1];
    EXPECT_EQ(cell_time(step), step.wall_ns);
    EXPECT_EQ(step.wall_ns, 600000u);
    EXPECT_GT(step.clusterer->unclustered(), 0u);
    EXPECT_GT(strict.losses(), 0u);
}

TEST_F(PhaseStackTest, EachIterationHasAMembershipWhereverMemoryEnds) {
    const std::uint64_t quota = memory_quota.limit();
    std::uint64_t unclustered = 0;
    for (std::uint64_t more = 4 << 10; more < 1 << 20; more += more / 2) {
        Arena arena;
        Pool pool(arena);
        CallTree tree(arena);
        ASSERT_TRUE(tree.start());
        PhaseStack strict(tree, arena, pool);
        ASSERT_TRUE(strict.start(0, 0, {4, EquivalenceChoice::Strong, 0, true, true, {}}));
        std::uint64_t now = 0;
        constexpr std::uint64_t iterations = 3000;
        for (std::uint64_t i = 0; i < iterations; ++i) {
            if (i == 100) memory_quota.limit(memory_quota.used() + more); // ends in the middle of a batch: a sixteenth of the quota may be left
            strict.begin(PhaseKind::Iterations, "step", now, now);
            Row& row = strict.row(tree.child(0, NodeKind::Mpi, 1, 0));
            row.is_event = true;
            row[Metric::Visits] += i < 100 ? 1 : i; // a class, and a cluster, for each number of visits
            row[Metric::Time] += 100;
            strict.time().book_event(100, 100);
            now += 100;
            strict.end(PhaseKind::Iterations, "step", now, now);
        }
        memory_quota.limit(quota);
        strict.finish(now, now);
        Phase& step = strict.all()[1];
        EXPECT_EQ(cell_time(step), step.wall_ns) << more;
        EXPECT_EQ(step.wall_ns, 100 * iterations) << more;
        EXPECT_EQ(step.clusterer->iterations(), step.iteration_walls.size()) << more;
        EXPECT_EQ(step.series->iterations(), step.iteration_walls.size()) << more;
        unclustered += step.clusterer->unclustered();
    }
    EXPECT_GT(unclustered, 0u);
}

namespace {

struct Outcome {
    std::uint64_t unclustered = UINT64_MAX;
    std::uint64_t clusters = 0;
};

/// Of a program that may need more memory than there is; in a process of its own, whose memory is unused.
Outcome outcome_with(std::uint64_t quota, bool keeps_series, std::uint32_t paths, std::uint32_t clusters) {
    int ends[2];
    Outcome result;
    if (pipe(ends) != 0) return result;
    const pid_t child = fork();
    if (child == 0) {
        new (&memory_quota) MemoryQuota; // whatever tests before this one took
        memory_quota.limit(quota);
        Arena arena;
        Pool pool(arena);
        CallTree tree(arena);
        tree.start();
        PhaseStack stack(tree, arena, pool);
        ClusteringSettings settings;
        settings.clusters = clusters;
        settings.keeps_series = keeps_series;
        settings.series.may_coarsen = true;
        stack.start(0, 0, settings);
        std::uint64_t now = 0;
        std::mt19937_64 random(5);
        for (int i = 0; i < 1500; ++i) {
            const std::uint64_t longer = std::uint64_t{1} << i % 16, larger = std::uint64_t{1} << i / 16 % 16; // 256 kinds
            stack.begin(PhaseKind::Iterations, "step", now, now);
            for (std::uint32_t p = 0; p < paths; ++p) {
                Row& row = stack.row(tree.child(0, NodeKind::Mpi, p % 3, p));
                const std::uint64_t ns = (1000 + random() % 1000 * (1 + p % 7)) * longer;
                row.is_event = true;
                ++row[Metric::Visits];
                row[Metric::Time] += ns;
                row[Metric::P2pBytesSent] += random() % 4096 * larger;
                stack.time().book_event(ns, ns);
                now += ns;
            }
            stack.end(PhaseKind::Iterations, "step", now, now);
        }
        stack.finish(now, now);
        if (const Clusterer* clusterer = stack.all()[1].clusterer) result = {clusterer->unclustered(), clusterer->cluster_count()};
        _exit(write(ends[1], &result, sizeof result) == sizeof result ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &result, sizeof result) != sizeof result) result = {};
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return result;
}

} // namespace

TEST(WallTimes, AnyNumbersComeBackAndWithoutMemoryNothingIsHalfThere) {
    Arena arena;
    Pool pool(arena);
    WallTimes walls;
    std::vector<std::uint64_t> expected;
    std::mt19937_64 random(9);
    for (int i = 0; i < 5000; ++i) {
        expected.push_back(i % 100 == 0 ? random() : 1000000 + random() % 1000);
        ASSERT_TRUE(walls.append(expected.back(), pool));
    }
    const std::uint64_t quota = memory_quota.limit();
    memory_quota.limit(memory_quota.used());
    while (walls.append(random(), pool)) expected.push_back(0);
    memory_quota.limit(quota);
    ASSERT_EQ(walls.size(), expected.size());
    std::vector<std::uint64_t> found;
    walls.for_each(UINT64_MAX, [&](std::uint64_t wall) { found.push_back(wall); });
    EXPECT_EQ(found.size(), expected.size());
    found.resize(5000);
    expected.resize(5000);
    EXPECT_EQ(found, expected);
}

TEST(ShortMemory, FewerClustersAreFormedBeforeIterationsAreLostAndSeriesTakeNothingFromThem) {
    for (const std::uint32_t paths : {3u, 30u, 300u})
        for (const std::uint32_t clusters : {16u, 256u})
            for (const std::uint64_t quota : {1u << 20, 4u << 20}) {
                const Outcome alone = outcome_with(quota, false, paths, clusters);
                const Outcome beside = outcome_with(quota, true, paths, clusters);
                std::printf("%3u call paths, K=%3u, %u MiB: %3u clusters, %4u iterations in none; beside series %3u, %4u\n", paths, clusters,
                            static_cast<unsigned>(quota >> 20), static_cast<unsigned>(alone.clusters), static_cast<unsigned>(alone.unclustered),
                            static_cast<unsigned>(beside.clusters), static_cast<unsigned>(beside.unclustered));
                EXPECT_EQ(alone.unclustered, 0u);
                EXPECT_EQ(beside.unclustered, 0u);
                EXPECT_GE(beside.clusters * 2, alone.clusters);
            }
}

TEST(WaitChoice, WorkIsDoneWhereTheRankUsuallyWaitsLongEnough) {
    WaitChoice waits;
    EXPECT_TRUE(waits.is_time_for_work(10, 1, 1)); // nothing is known yet
    waits.is_time_for_work(5000, 0, 1);
    waits.learn(1000);
    waits.next_iteration();
    for (int i = 0; i < 3; ++i) { // short, long
        EXPECT_FALSE(waits.is_time_for_work(20, 1, 1));
        EXPECT_TRUE(waits.is_time_for_work(5000, 1, 1));
        waits.next_iteration();
    }
    EXPECT_TRUE(waits.is_time_for_work(1200, 1, 1));  // long enough is as good as longer
    EXPECT_FALSE(waits.is_time_for_work(1200, 0, 1)); // nothing to do
}

TEST(WaitChoice, TheLongestOfShortWaitsIsBetterThanNone) {
    WaitChoice waits;
    waits.learn(100000);
    waits.is_time_for_work(20, 0, 1);
    waits.is_time_for_work(400, 0, 1);
    waits.next_iteration();
    EXPECT_FALSE(waits.is_time_for_work(20, 1, 1));
    EXPECT_TRUE(waits.is_time_for_work(390, 1, 1)); // it is a little shorter now
    waits.next_iteration();
    waits.next_iteration(); // without any
    EXPECT_TRUE(waits.is_time_for_work(20, 1, 1));
}

TEST(WaitChoice, TheWorkOfHalfOfThemIsDoneInALongWaitAndThatOfAllInTheLongest) {
    WaitChoice waits;
    waits.learn(1000);
    waits.is_time_for_work(6000, 0, 16);
    waits.next_iteration();
    EXPECT_FALSE(waits.is_time_for_work(60000, 7, 16)); // more will come
    EXPECT_TRUE(waits.is_time_for_work(8000, 8, 16));
    EXPECT_FALSE(waits.is_time_for_work(7000, 8, 16)); // not long enough for eight
    EXPECT_TRUE(waits.is_time_for_work(7000, 16, 16)); // the next end would have to do it
}

} // namespace libprofile
