// Traces of samples: from the file to the model, the JSON and the line of the text report; damaged ones.
#include "tests/unit/tools_read_one.hpp"
#include "tools/report/json.hpp"
#include "tools/report/text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;
using Json = nlohmann::json;

namespace {

/// A sample job of one rank with this trace block.
Profile with_trace(const std::function<void(Encoder&)>& write) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    add_sample_rank(b, 0);
    b.block(BlockType::Trace, 0, write);
    return read_one(b.bytes());
}

} // namespace

TEST(Trace, SamplesHaveUnifiedPaths) {
    const Profile p = read_one(sample_file(3, true));
    EXPECT_TRUE(p.notes.empty());
    EXPECT_TRUE(p.complete);
    for (const Location& location : p.locations) {
        const Trace& trace = location.trace;
        EXPECT_EQ(trace.stride, 2u);
        EXPECT_EQ(trace.dropped, 3u);
        ASSERT_EQ(trace.samples.size(), 4u);
        const std::uint32_t main = trace.samples[0].path, solve = trace.samples[1].path;
        // Rank 1 has its modules in another order; the call paths are the same.
        EXPECT_EQ(main, p.locations[0].trace.samples[0].path);
        EXPECT_EQ(p.paths[solve].parent, main);
        EXPECT_EQ(trace.samples[3].path, main);
        EXPECT_EQ(trace.samples[1].time_ns, 300u);
        EXPECT_EQ(trace.samples[3].time_ns, 900u);
        EXPECT_EQ(trace.samples[0].lca_kind, LcaKind::Unknown);
        EXPECT_EQ(trace.samples[2].lca_kind, LcaKind::Bound);
        EXPECT_EQ(trace.samples[2].lca_depth, 2u);
    }
}

TEST(Trace, ReportsShowIt) {
    const Profile with = read_one(sample_file(3, true)), without = read_one(sample_file(3));
    const std::string line = "trace: 12 samples of 3 threads (9 more thinned out), 6 long waits, common ancestors exact 50.0 %, "
                             "bound 25.0 %, unknown 25.0 %\n";
    TextStyle style;
    style.width = 160;
    const std::string text = report_text(with, style);
    EXPECT_NE(text.find(line), std::string::npos) << text;
    EXPECT_EQ(report_text(without, TextStyle{}).find("trace:"), std::string::npos);

    EXPECT_FALSE(Json::parse(report_json(with)).contains("traces"));
    EXPECT_EQ(Json::parse(report_json(without, {true, false}))["traces"], Json::array());
    const Json traces = Json::parse(report_json(with, {true, false}))["traces"];
    ASSERT_EQ(traces.size(), 3u);
    EXPECT_EQ(traces[2]["rank"], 2);
    EXPECT_EQ(traces[2]["thread"], 0);
    EXPECT_EQ(traces[2]["stride"], 2);
    EXPECT_EQ(traces[2]["dropped"], 3);
    EXPECT_EQ(traces[2]["time_ns"], Json({100, 300, 500, 900}));
    EXPECT_EQ(traces[2]["path"].size(), 4u);
    EXPECT_EQ(traces[2]["lca_depth"], Json({0, 1, 2, 1}));
    EXPECT_EQ(traces[2]["lca_kind"], Json({0, 2, 1, 2}));
    const Json& waits = traces[2]["waits"];
    EXPECT_EQ(waits["dropped"], 4);
    EXPECT_EQ(waits["longest_dropped_ns"], 70);
    EXPECT_EQ(waits["begin_ns"], Json({520, 710}));
    EXPECT_EQ(waits["end_ns"], Json({700, 860}));
    EXPECT_EQ(waits["lca_depth"], Json({1, 0}));
    EXPECT_EQ(waits["lca_kind"], Json({2, 0}));
    EXPECT_EQ(waits["after_depth"], Json({1, 0}));
    EXPECT_EQ(waits["after_kind"], Json({1, 0}));
}

TEST(Trace, AncestorsAreNeverDeeperThanThePath) {
    const Profile p = with_trace([](Encoder& e) {
        TraceRecord r{0, 1, 1, 0};
        describe(e, r);
        TraceSampleRecord s{5, 2, std::uint64_t{1000} << 2 | 2};
        describe(e, s);
    });
    EXPECT_TRUE(p.notes.empty());
    ASSERT_EQ(p.locations[0].trace.samples.size(), 1u);
    EXPECT_EQ(p.locations[0].trace.samples[0].lca_depth, 2u);
}

TEST(Trace, DamagedOnesAreLeftOutAndNamed) {
    constexpr std::uint64_t huge = ~std::uint64_t{0};
    const auto lost = [](TraceRecord record, TraceSampleRecord sample) {
        const Profile p = with_trace([&](Encoder& e) {
            describe(e, record);
            describe(e, sample);
        });
        EXPECT_EQ(p.locations.size(), 1u);
        return !p.complete && p.notes.size() == 1 && p.locations[0].trace.stride == 0;
    };
    EXPECT_FALSE(lost({0, 1, 1, 0}, {5, 1, 2}));
    EXPECT_TRUE(lost({0, huge, 1, 0}, {5, 1, 2})) << "more samples than bytes";
    EXPECT_TRUE(lost({0, 2, 1, 0}, {5, 1, 2})) << "a sample is missing";
    EXPECT_TRUE(lost({0, 0, 1, 0}, {5, 1, 2})) << "bytes are left over";
    EXPECT_TRUE(lost({0, 1, 0, 0}, {5, 1, 2})) << "stride 0";
    EXPECT_TRUE(lost({huge, 1, 1, 0}, {5, 1, 2})) << "thread";
    EXPECT_TRUE(lost({0, 1, 1, 0}, {5, 1, 3})) << "kind 3";
    EXPECT_TRUE(lost({0, 1, 1, 0}, {5, 1, huge})) << "depth";
    EXPECT_TRUE(lost({0, 1, 1, 0}, {5, -1, 2})) << "a negative node";
    EXPECT_TRUE(lost({0, 1, 1, 0}, {5, 6, 2})) << "a node that is not there";
}

TEST(Trace, OneOfAThreadThatIsNotThereIsIgnored) {
    const Profile p = with_trace([](Encoder& e) {
        TraceRecord r{3, 0, 1, 0};
        describe(e, r);
    });
    EXPECT_EQ(p.locations.size(), 1u);
    EXPECT_EQ(p.locations[0].trace.stride, 0u);
}
