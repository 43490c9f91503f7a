// The calls of a pass of a made-up program: whether they are the same ones several times.
#include "libprofile/loops/call_pattern.hpp"
#include "tests/unit/call_stream.hpp"

using namespace libprofile;

namespace {

class CallsOfPass : public Stream {
  protected:
    void add(const std::vector<std::uint64_t>& sites, std::uint32_t function) { calls.add(tree, path_of({sites[0]}), node_of(sites, function)); }

    CallPattern calls;
};

} // namespace

TEST_F(CallsOfPass, ThatAreMadeTwiceAreFoundInAnyOrder) {
    add({30}, barrier);
    add({10, 99}, send);
    add({20, 98}, send);
    EXPECT_EQ(calls.repetitions(), 1u); // 99 and 98 are different places
    calls = {};
    add({40, 99}, send);
    add({30}, barrier);
    add({20, 99}, send);
    add({10}, barrier);
    EXPECT_EQ(calls.repetitions(), 2u);
    EXPECT_EQ(calls.another(path_of({10})), path_of({30}));
    EXPECT_EQ(calls.another(path_of({20})), path_of({40}));
    EXPECT_EQ(calls.another(path_of({40})), path_of({20}));
    add({50}, barrier);
    EXPECT_EQ(calls.repetitions(), 1u);
    add({60, 99}, send);
    EXPECT_EQ(calls.repetitions(), 3u);
    add({20, 97}, send); // one more of a site that is there
    EXPECT_EQ(calls.repetitions(), 1u);
}

TEST_F(CallsOfPass, OfWhichACopyMakesTwoAreCopies) {
    for (const std::uint64_t site : {10, 20, 30, 40}) add({site}, barrier);
    for (const std::uint64_t site : {50, 60}) add({site, 99}, send); // behind the loop, say
    EXPECT_EQ(calls.repetitions(), 2u);
}

TEST_F(CallsOfPass, OfOneSiteAreNoCopies) {
    EXPECT_EQ(calls.repetitions(), 1u);
    add({10}, barrier);
    add({10, 99}, send);
    EXPECT_EQ(calls.repetitions(), 1u);
}

TEST_F(CallsOfPass, ThatAreTooManyAreNotLookedAt) {
    for (std::uint64_t site = 1; site <= CallPattern::most; ++site) add({site}, barrier);
    EXPECT_EQ(calls.repetitions(), CallPattern::most);
    add({3}, send);
    EXPECT_EQ(calls.repetitions(), 1u);
    add({1000}, barrier);
    EXPECT_EQ(calls.repetitions(), 1u);
}
