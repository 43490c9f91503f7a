// Folding makes room in the log and changes nothing of what the log tells of the loops outside.
#include "libprofile/loops/log_folding.hpp"
#include "tests/unit/call_stream.hpp"

#include <map>
#include <random>
#include <utility>

using namespace libprofile;

namespace {

using Sums = std::map<std::pair<NodeId, std::uint32_t>, std::uint64_t>;

struct Contents {
    Sums sums;
    SegmentCounters since;
    std::uint64_t events = 0;
    std::uint64_t last_at = 0;
};

Contents contents(const EventLog& log, EventLog::Position from) {
    Contents found;
    LogRecord kind{};
    for (EventLog::Reader reader(log, from); reader.next(kind);) {
        if (kind == LogRecord::Sample) {
            found.sums[{reader.node, 100}] += reader.count;
            found.sums[{reader.node, 101}] += reader.weight;
        } else if (kind == LogRecord::Values) {
            for (std::uint32_t i = 0; i < reader.count; ++i) {
                std::uint32_t metric = 0;
                std::uint64_t increment = 0;
                reader.value(metric, increment);
                found.sums[{reader.node, metric}] += increment;
            }
        } else {
            ++found.events;
            found.since += reader.event.since;
            found.last_at = reader.event.at;
        }
    }
    return found;
}

void expect_equal(const Contents& a, const Contents& b) {
    EXPECT_EQ(a.sums, b.sums);
    EXPECT_EQ(a.since.events_ns, b.since.events_ns);
    EXPECT_EQ(a.since.asleep_ns, b.since.asleep_ns);
    EXPECT_EQ(a.since.overhead_ns, b.since.overhead_ns);
    EXPECT_EQ(a.last_at, b.last_at);
}

class log_folding : public Stream {
  protected:
    std::mt19937 random{1};
    std::uint64_t number(std::uint64_t below) { return std::uniform_int_distribution<std::uint64_t>(0, below - 1)(random); }

    /// A call with values, and now and then a sample.
    void measured(const std::vector<std::uint64_t>& sites, std::uint32_t function, std::uint32_t common, std::uint64_t after = 10000) {
        call(sites, function, common, after + number(100));
        const NodeId node = node_of(sites, function);
        const EventLog::Cell cells[] = {{0, 1}, {1, 1 + number(5000)}};
        log.add_values(node, cells, 2);
        if (number(5) == 0) log.add_sample(path_of(sites), 1 + number(9));
    }
    /// A step: a halo exchange, `inner` calls of a solver two functions further inside, a sum.
    void step(bool is_first, int inner) {
        measured({10, 20}, send, is_first ? 0 : 1);
        for (int k = 0; k < inner; ++k) measured({10, 21, 30, 40 + number(3)}, k % 5 == 0 ? barrier : send, k == 0 ? 2 : 4);
        measured({10, 22}, barrier, 2);
    }
};

} // namespace

TEST_F(log_folding, keeps_the_start_and_all_values_of_the_loop_outside) {
    for (int i = 0; i < 12; ++i) step(i == 0, 2000);
    ASSERT_EQ(search.find(now, found, 4), 1u);
    const LoopCandidate candidate = found[0];
    ASSERT_EQ(candidate.level, 1u);
    const Loop before = start_of(candidate);
    const Contents whole = contents(log, log.begin());
    const std::size_t size = log.used();
    EventLog::Position from = log.begin();
    ASSERT_TRUE(fold(log, tree, candidate.level, from));
    EXPECT_EQ(from.offset, 0u);
    EXPECT_LT(log.used(), size / 20);
    EXPECT_EQ(log.known_from(1), log.begin().time);
    EXPECT_GT(log.known_from(4), now);
    const Contents folded = contents(log, from);
    EXPECT_LT(folded.events, whole.events / 100);
    expect_equal(whole, folded);
    const Loop after = start_of(candidate);
    EXPECT_EQ(after.start, before.start);
    EXPECT_EQ(after.site, before.site);
    EXPECT_EQ(after.passes, before.passes);
    EXPECT_EQ(after.sites.size(), before.sites.size());
    // And so it goes on.
    for (int i = 0; i < 12; ++i) step(false, 100);
    ASSERT_EQ(search.find(now, found, 4), 1u);
    EXPECT_NEAR(static_cast<double>(start_of(found[0]).passes), 24, 1);
}

TEST_F(log_folding, leaves_a_loop_that_may_be_the_time_loop) {
    for (int i = 0; i < 4000; ++i) measured({10, 20}, send, i == 0 ? 0 : 2, 40000);
    EventLog::Position from = log.begin();
    ASSERT_EQ(search.find(now, found, 4), 1u);
    ASSERT_EQ(found[0].level, 2u);
    const std::size_t size = log.used();
    EXPECT_FALSE(fold(log, tree, 2, from));
    EXPECT_EQ(log.used(), size);
    EXPECT_TRUE(fold(log, tree, 1, from));
    EXPECT_GT(log.known_from(2), now);
}

TEST_F(log_folding, changes_no_sum_wherever_the_whole_part_begins) {
    for (int round = 0; round < 200; ++round) {
        log.release();
        log.start(64 << 20, now);
        const int steps = 1 + static_cast<int>(number(12));
        const int cut = static_cast<int>(number(static_cast<std::uint64_t>(steps)));
        EventLog::Position from = log.begin();
        for (int i = 0; i < steps; ++i) {
            if (i == cut) {
                // What measured something else may have come in between: then the last event has no values, and may go.
                if (i != 0 && number(2) == 0) {
                    measured({10, 21, 30, 40}, send, 2);
                    call({10, 21, 30, 41}, send, 4, 10000);
                }
                from = log.end();
            }
            step(i == 0, 20 + static_cast<int>(number(300)));
            const NodeId node = path_of({10, 21, 30});
            log.add_values(node, nullptr, 0); // a row that has not changed
        }
        const Contents whole = contents(log, from);
        for (int again = 0; again < 3; ++again) { // folding what was folded
            if (!fold(log, tree, 1, from)) break;
            expect_equal(whole, contents(log, from));
        }
    }
}

TEST_F(log_folding, tells_the_same_of_all_loops_that_it_leaves) {
    for (int round = 0; round < 300; ++round) {
        log.release();
        log.start(64 << 20, now);
        search.start(now);
        std::vector<std::uint64_t> path{1 + number(2)};
        for (int i = 0; i < 4000; ++i) { // a random walk in a tree of functions, mostly deep inside
            std::uint32_t common = static_cast<std::uint32_t>(path.size());
            while (common > 1 && number(common * 2) == 0) --common;
            if (i == 0) common = 0;
            path.resize(common == 0 ? 0 : common - 1);
            while (path.size() < 6 && (path.empty() || path.size() < common || number(3) != 0)) path.push_back(path.size() * 10 + number(4));
            measured(path, static_cast<std::uint32_t>(number(2)), common);
        }
        LoopCandidate before[16];
        const std::uint32_t count = search.find(now, before, 16);
        Loop loops[16];
        bool is_loop[16];
        for (std::uint32_t i = 0; i < count; ++i) is_loop[i] = choose_start(EventList(log), tree, before[i], traits, {}, loops[i]);
        EventLog::Position from = log.begin();
        if (!fold(log, tree, 1, from)) continue;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (log.known_from(before[i].level) > before[i].entries.first_at) continue;
            Loop after;
            ASSERT_EQ(choose_start(EventList(log), tree, before[i], traits, {}, after), is_loop[i]);
            if (!is_loop[i]) continue;
            EXPECT_EQ(after.start, loops[i].start);
            EXPECT_EQ(after.site, loops[i].site);
            EXPECT_EQ(after.passes, loops[i].passes);
            EXPECT_EQ(after.sites.size(), loops[i].sites.size());
            EXPECT_EQ(after.other, loops[i].other);
            EXPECT_EQ(after.is_ambiguous, loops[i].is_ambiguous);
        }
    }
}

TEST(log_folding_of_absences, what_began_first_is_kept) {
    EventLog log;
    log.start(1 << 20, 1000);
    log.add_away(7, {500, 30});
    log.add_event({3, 1, 5000, {}, false});
    LogRecord kind{};
    EventLog::Reader reader(log, log.begin());
    ASSERT_TRUE(reader.next(kind));
    EXPECT_EQ(kind, LogRecord::Values);
    const EventLog::Away away = reader.away();
    EXPECT_EQ(away.ns, 500u);
    EXPECT_EQ(away.since, 30u);
    ASSERT_TRUE(reader.next(kind));
    EXPECT_EQ(reader.event.node, 3u);
    log.release();
}
