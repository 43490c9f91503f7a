// The trace of a thread's samples: bounded, over the whole run, with the common ancestors of the remaining samples.
#include "libprofile/thread/sample_trace.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <vector>

namespace libprofile {

namespace {

struct Added {
    std::uint32_t depth;
    LcaKind kind;
};

std::vector<Added> random_samples(std::size_t count) {
    std::mt19937 random(7);
    std::vector<Added> list;
    for (std::size_t i = 0; i < count; ++i)
        list.push_back({static_cast<std::uint32_t>(random() % 20), random() % 9 == 0 ? LcaKind::Unknown : random() % 4 == 0 ? LcaKind::Bound : LcaKind::Exact});
    return list;
}

/// Sample i is taken at 10 i + 5 ns on the path i + 1.
void add_all(SampleTrace& trace, const std::vector<Added>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) trace.add(10 * i + 5, static_cast<NodeId>(i + 1), list[i].depth, list[i].kind);
}

/// The expected trace, from the definition: every stride-th sample, with the least ancestor over those since the one before.
void check(const SampleTrace& trace, const std::vector<Added>& list) {
    const std::size_t stride = trace.stride();
    ASSERT_EQ(trace.size(), (list.size() + stride - 1) / stride);
    EXPECT_EQ(trace.dropped(), list.size() - trace.size());
    for (std::size_t i = 0; i < trace.size(); ++i) {
        ASSERT_EQ(trace[i].time_ns, 10 * i * stride + 5);
        ASSERT_EQ(trace[i].node, i * stride + 1);
        Added expected = i == 0 ? Added{0, LcaKind::Unknown} : list[i * stride];
        for (std::size_t between = i == 0 ? 0 : (i - 1) * stride + 1; between < i * stride; ++between) {
            expected.depth = std::min(expected.depth, list[between].depth);
            expected.kind = std::min(expected.kind, list[between].kind);
        }
        ASSERT_EQ(trace[i].depth(), expected.depth) << i;
        ASSERT_EQ(trace[i].kind(), expected.kind) << i;
    }
}

class SampleTraceTest : public testing::Test {
  protected:
    void TearDown() override { memory_quota.limit(256ull << 20); }
    Arena arena;
    SampleTrace trace;
};

} // namespace

TEST_F(SampleTraceTest, DoesNothingUntilItIsStarted) {
    EXPECT_FALSE(trace.is_on());
    trace.add(1, 2, 3, LcaKind::Exact);
    EXPECT_EQ(trace.size(), 0u);
    EXPECT_EQ(trace.dropped(), 0u);
    ASSERT_TRUE(trace.start(arena));
    EXPECT_TRUE(trace.is_on());
    EXPECT_EQ(trace.size(), 0u);
}

TEST_F(SampleTraceTest, KeepsAllWhileThereIsRoom) {
    ASSERT_TRUE(trace.start(arena));
    const std::vector<Added> list = random_samples(65536);
    add_all(trace, list);
    EXPECT_EQ(trace.stride(), 1u);
    check(trace, list);
}

TEST_F(SampleTraceTest, ThinsOutAndKeepsTheLeastCommonAncestors) {
    for (const std::size_t count : {32u, 33u, 34u, 63u, 64u, 65u, 127u, 129u, 1000u, 100000u}) {
        Arena memory;
        SampleTrace small;
        ASSERT_TRUE(small.start(memory, 32 * sizeof(SampleTrace::Entry)));
        const std::vector<Added> list = random_samples(count);
        add_all(small, list);
        EXPECT_LE(small.size(), 32u);
        if (count > 32) {
            EXPECT_GE(small.size(), 16u) << count;
        }
        check(small, list);
    }
}

TEST_F(SampleTraceTest, AnOddLimitIsMadeEven) {
    ASSERT_TRUE(trace.start(arena, 7 * sizeof(SampleTrace::Entry)));
    const std::vector<Added> list = random_samples(100);
    add_all(trace, list);
    EXPECT_LE(trace.size(), 6u);
    check(trace, list);
}

TEST_F(SampleTraceTest, StaysWithinItsMemory) {
    const std::uint64_t before = memory_quota.used();
    ASSERT_TRUE(trace.start(arena));
    EXPECT_LE(memory_quota.used() - before, std::uint64_t{64} << 10) << "memory before there are samples";
    add_all(trace, random_samples(300000));
    EXPECT_EQ(trace.stride(), 8u);
    EXPECT_LE(memory_quota.used() - before, SampleTrace::default_limit + (std::uint64_t{256} << 10));
}

TEST_F(SampleTraceTest, ThinsOutWhenTheQuotaIsUsedUp) {
    ASSERT_TRUE(trace.start(arena));
    memory_quota.limit(memory_quota.used() + (std::uint64_t{128} << 10));
    const std::vector<Added> list = random_samples(60000);
    add_all(trace, list);
    EXPECT_GT(trace.stride(), 1u);
    EXPECT_GT(trace.size(), 1000u);
    check(trace, list);
}

TEST_F(SampleTraceTest, NoMemoryAtAllLeavesItOff) {
    memory_quota.limit(memory_quota.used());
    EXPECT_FALSE(trace.start(arena));
    trace.add(1, 2, 3, LcaKind::Exact);
    EXPECT_FALSE(trace.is_on());
    EXPECT_EQ(trace.size(), 0u);
}

namespace {

struct Seen {
    std::uint64_t begin, end;
    std::uint32_t lca, after;
};

/// The waits as the file has them; the common ancestors of samples in `samples`.
std::vector<Seen> written(const SampleTrace& trace, std::vector<std::uint32_t>& samples) {
    std::vector<unsigned char> bytes(1 << 21);
    Encoder encoder(bytes.data(), bytes.size());
    write_trace(encoder, 0, trace);
    const std::size_t samples_size = encoder.size();
    write_waits(encoder, 0, trace);
    EXPECT_FALSE(encoder.overflow());
    Decoder decoder(bytes.data(), encoder.size());
    TraceRecord record;
    describe(decoder, record);
    for (std::uint64_t i = 0; i < record.samples; ++i) {
        TraceSampleRecord sample;
        describe(decoder, sample);
        samples.push_back(static_cast<std::uint32_t>(sample.lca));
    }
    EXPECT_EQ(encoder.size() - decoder.remaining(), samples_size);
    WaitsRecord waits;
    describe(decoder, waits);
    EXPECT_EQ(waits.waits, trace.waits());
    std::vector<Seen> list;
    std::uint64_t time = 0;
    for (std::uint64_t i = 0; i < waits.waits; ++i) {
        WaitRecord wait;
        describe(decoder, wait);
        const std::uint64_t begin = time + static_cast<std::uint64_t>(wait.begin_difference);
        time = begin + wait.duration;
        list.push_back({begin, time, static_cast<std::uint32_t>(wait.lca), static_cast<std::uint32_t>(wait.lca_after)});
    }
    EXPECT_EQ(decoder.remaining(), 0u);
    return list;
}

constexpr std::uint32_t exact(std::uint32_t depth) { return depth << 2 | static_cast<std::uint32_t>(LcaKind::Exact); }

} // namespace

TEST_F(SampleTraceTest, WaitsAreLinksOfTheChain) {
    ASSERT_TRUE(trace.start(arena));
    EXPECT_FALSE(trace.is_long(1000, 0)) << "without samples";
    EXPECT_FALSE(trace.is_long(100, 100)) << "not longer than a period";
    EXPECT_EQ(trace.longest_dropped(), 100u);
    trace.add(100, 1, 5, LcaKind::Exact);
    ASSERT_TRUE(trace.is_long(101, 100));
    trace.add_wait(120, 221, 2, 4, LcaKind::Exact);
    ASSERT_TRUE(trace.is_long(200, 100));
    trace.add_wait(300, 500, 3, 2, LcaKind::Exact);
    trace.add_wait_apart(510, 700, 4);
    trace.add(800, 5, 6, LcaKind::Exact);
    trace.add(900, 6, 3, LcaKind::Bound);
    std::vector<std::uint32_t> samples;
    const std::vector<Seen> waits = written(trace, samples);
    EXPECT_EQ(samples, (std::vector<std::uint32_t>{0, exact(2), 3 << 2 | 1})) << "of two samples: the outermost of those on the way";
    ASSERT_EQ(waits.size(), 3u);
    EXPECT_EQ(waits[0].begin, 120u);
    EXPECT_EQ(waits[0].end, 221u);
    EXPECT_EQ(waits[0].lca, exact(4));
    EXPECT_EQ(waits[0].after, exact(2));
    EXPECT_EQ(waits[1].lca, exact(2));
    EXPECT_EQ(waits[1].after, exact(6)) << "the one that nobody looked at is passed over";
    EXPECT_EQ(waits[2].lca, 0u);
    EXPECT_EQ(waits[2].after, 0u);
    EXPECT_EQ(trace.samples(), 3u);
}

/// After the definition: what is left, and the least ancestors of all that was dropped before it.
TEST_F(SampleTraceTest, WaitsThinOutWithTheSamplesWithinTheLimit) {
    std::mt19937 random(11);
    for (const unsigned waits_of_ten : {1u, 4u, 9u, 10u}) {
        Arena memory;
        SampleTrace small;
        constexpr std::size_t limit = 64;
        ASSERT_TRUE(small.start(memory, limit * sizeof(SampleTrace::Entry)));
        struct All {
            std::uint64_t begin, end;
            std::uint32_t depth;
            bool is_wait;
        };
        std::vector<All> all;
        std::uint64_t now = 0, asked = 0;
        for (int i = 0; i < 5000; ++i) {
            const bool is_wait = random() % 10 < waits_of_ten;
            const std::uint64_t begin = now + random() % 20, end = is_wait ? begin + 50 + random() % 2000 : begin;
            const auto depth = static_cast<std::uint32_t>(random() % 30);
            now = end + 1;
            if (!is_wait) {
                small.add(end, static_cast<NodeId>(i + 1), depth, LcaKind::Exact);
            } else {
                ++asked;
                if (!small.is_long(end - begin, 100)) continue;
                small.add_wait(begin, end, static_cast<NodeId>(i + 1), depth, LcaKind::Exact);
            }
            all.push_back({begin, end, depth, is_wait});
            ASSERT_LE(small.size(), limit);
        }
        EXPECT_EQ(small.waits() + small.dropped_waits(), asked);
        if (waits_of_ten < 10) {
            EXPECT_GE(small.samples(), 1u);
        }
        std::vector<std::uint32_t> samples;
        const std::vector<Seen> waits = written(small, samples);
        for (const All& one : all) {
            if (one.is_wait && one.end - one.begin > small.longest_dropped()) {
                EXPECT_TRUE(std::any_of(waits.begin(), waits.end(), [&](const Seen& wait) { return wait.begin == one.begin && wait.end == one.end; }));
            }
        }
        EXPECT_GE(waits.size(), waits_of_ten >= 9 ? 4u : 0u) << "a thread that sleeps keeps its longest waits";
        std::uint64_t last = 0;
        std::size_t from = 0; // after the entry before
        for (std::size_t i = 0; i < small.size(); ++i) {
            const SampleTrace::Entry& entry = small[small[i].is_begin() ? ++i : i];
            ASSERT_GE(entry.time_ns, last);
            last = entry.time_ns;
            std::uint32_t least = SampleTrace::deepest;
            const std::size_t first = from;
            for (bool found = false; !found; ++from) {
                least = std::min(least, all[from].depth);
                found = all[from].end == entry.time_ns;
            }
            if (first != 0) {
                ASSERT_EQ(entry.depth(), least);
            }
        }
    }
}

TEST_F(SampleTraceTest, IsWrittenAsDifferences) {
    ASSERT_TRUE(trace.start(arena, 8 * sizeof(SampleTrace::Entry)));
    trace.add(1000, 30, 9, LcaKind::Exact);
    trace.add(1010, 10, 4, LcaKind::Bound);
    trace.add(1005, 11, 0xffffffffu, LcaKind::Exact); // a clock that went back must do no harm
    unsigned char bytes[100];
    Encoder encoder(bytes, sizeof bytes);
    write_trace(encoder, 5, trace);
    ASSERT_FALSE(encoder.overflow());
    Decoder decoder(bytes, encoder.size());
    TraceRecord record;
    describe(decoder, record);
    EXPECT_EQ(record.thread, 5u);
    EXPECT_EQ(record.samples, 3u);
    EXPECT_EQ(record.stride, 1u);
    EXPECT_EQ(record.dropped, 0u);
    const std::int64_t times[] = {1000, 10, -5}, nodes[] = {30, -20, 1};
    const std::uint64_t lcas[] = {0, 4 * 4 + 1, std::uint64_t{0x3fffffff} * 4 + 2};
    for (int i = 0; i < 3; ++i) {
        TraceSampleRecord sample;
        describe(decoder, sample);
        EXPECT_EQ(sample.time_difference, times[i]);
        EXPECT_EQ(sample.node_difference, nodes[i]);
        EXPECT_EQ(sample.lca, lcas[i]);
    }
    EXPECT_FALSE(decoder.failed());
    EXPECT_EQ(decoder.remaining(), 0u);
}

} // namespace libprofile
