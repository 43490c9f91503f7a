// Loops that are kept with names: written, read, and refused where a file makes no sense.
#include "tests/unit/tools_code_loops.hpp"
#include "tests/unit/tools_profile_builder.hpp"
#include "tools/names/resolve.hpp"
#include "tools/reader/reader.hpp"

#include <functional>
#include <gtest/gtest.h>

using namespace libprofile;
using namespace libprofile::tools;

namespace {

test::ByteVector encoded(const ModuleLoops& loops) {
    Encoder measure(nullptr, 0);
    encode(measure, loops);
    test::ByteVector bytes(measure.size());
    Encoder encoder(bytes.data(), bytes.size());
    encode(encoder, loops);
    return bytes;
}

bool is_accepted(const test::ByteVector& bytes) {
    Decoder decoder(bytes.data(), bytes.size());
    ModuleLoops loops;
    return decode(decoder, loops) && decoder.remaining() == 0;
}

/// Whether the sample is read after `change`.
bool is_accepted_after(const std::function<void(FunctionLoops&)>& change) {
    ModuleLoops loops = test::sample_loops(0x1000);
    change(loops.functions[0]);
    return is_accepted(encoded(loops));
}

test::ProfileBuilder traced_job(const std::string& path) {
    test::ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    b.rank(RankRecord{});
    b.modules(0, {{"", "/other"}, {"build", path}});
    b.functions(0, {});
    b.tree(0, 0, 0, {{0, NodeKind::Frame, 1, 0x1000}, {0, NodeKind::Frame, 1, 0x1010}});
    return b;
}

/// names.lprof of that job.
test::ByteVector stored_names(const test::ProfileBuilder& job) {
    const std::vector<NamedBytes> files = {{"profile.lprof", job.bytes()}};
    Profile p = read_profile(files);
    EXPECT_TRUE(p.loops.empty());
    p.sites[0].name.function = "solve";
    p.loops.resize(p.modules.size());
    p.loops[p.sites[0].module] = test::sample_loops(0x1000);
    return encode_names(p);
}

} // namespace

TEST(CodeLoops, TravelWithNames) {
    const test::ByteVector stored = stored_names(traced_job("/home/user/app"));
    const test::ProfileBuilder moved = traced_job("/elsewhere/app");
    const std::vector<NamedBytes> files = {{"profile.lprof", moved.bytes()}, {names_file, stored}};
    const Profile there = read_profile(files);
    EXPECT_TRUE(there.notes.empty());
    ASSERT_EQ(there.loops.size(), there.modules.size());
    const ModuleLoops& loops = there.loops[there.sites[0].module];
    ASSERT_EQ(loops.functions.size(), 2u);
    EXPECT_EQ(encoded(loops), encoded(test::sample_loops(0x1000)));
    const FunctionLoops& function = loops.functions[0];
    EXPECT_TRUE(function.is_understood);
    EXPECT_EQ(function.loops[0].line, 10u);
    EXPECT_EQ(loops.files[function.loops[0].file], "solve.cpp");
    EXPECT_EQ(function.loops[1].file, FunctionLoops::none);
    EXPECT_FALSE(function.places[3].is_own);
    EXPECT_FALSE(loops.functions[1].is_understood);
    EXPECT_EQ(loops.functions[1].places.size(), 2u);
}

TEST(CodeLoops, ThatAreDamagedAreNoDamagedProfile) {
    const test::ProfileBuilder job = traced_job("/app");
    test::ByteVector stored = stored_names(job);
    stored[stored.size() - 9] ^= 1;
    const std::vector<NamedBytes> files = {{"profile.lprof", job.bytes()}, {names_file, stored}};
    const Profile read = read_profile(files);
    EXPECT_TRUE(read.notes.empty());
    EXPECT_TRUE(read.loops.empty());
    EXPECT_EQ(read.sites[0].name.function, "solve"); // the other block
}

TEST(CodeLoops, SayWhatMayFollowInOnePass) {
    const FunctionLoops function = test::sample_loops(0x1000).functions[0];
    EXPECT_TRUE(function.reaches_forward(1, 0x1000, 0x1010));
    EXPECT_TRUE(function.reaches_forward(1, 0x1010, 0x1014));
    EXPECT_FALSE(function.reaches_forward(1, 0x1014, 0x1010));
    EXPECT_FALSE(function.reaches_forward(1, 0x1010, 0x1000));
    EXPECT_FALSE(function.reaches_forward(1, 0x1000, 0x1030)); // outside
    EXPECT_TRUE(function.reaches_forward(0, 0x1010, 0x1000));  // in another pass of the inner loop
    EXPECT_TRUE(function.reaches_forward(0, 0x1010, 0x1030));
    EXPECT_FALSE(function.reaches_forward(0, 0x1030, 0x1010));
    EXPECT_TRUE(function.reaches_forward(FunctionLoops::none, 0x1030, 0x1000));
    EXPECT_FALSE(function.reaches_forward(0, 0x1000, 0x1001)); // no place
}

TEST(CodeLoops, ThatMakeNoSenseAreRefused) {
    EXPECT_TRUE(is_accepted_after([](FunctionLoops&) {}));
    EXPECT_FALSE(is_accepted_after([](FunctionLoops& f) { f.loops[0].parent = 1; }));                   // a cycle
    EXPECT_FALSE(is_accepted_after([](FunctionLoops& f) { f.loops[1].parent = FunctionLoops::none; })); // then what follows it lies elsewhere
    EXPECT_FALSE(is_accepted_after([](FunctionLoops& f) { f.loops[0].file = 1; }));                     // there is one
    EXPECT_FALSE(is_accepted_after([](FunctionLoops& f) { f.loop_of[0] = 2; }));                        // no such loop
    EXPECT_FALSE(is_accepted_after([](FunctionLoops& f) { f.next[0] = {5}; }));                         // no such item
    EXPECT_FALSE(is_accepted_after([](FunctionLoops& f) { f.next[0] = {2}; }));                         // in another loop
    EXPECT_FALSE(is_accepted_after([](FunctionLoops& f) { f.places[1].offset = f.places[0].offset; })); // twice
    const test::ByteVector bytes = encoded(test::sample_loops(0x1000));
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(is_accepted({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
}

TEST(CodeLoops, AreRefusedIfTooManyLieInEachOther) {
    for (const std::uint32_t depth : {FunctionLoops::deepest, FunctionLoops::deepest + 1}) {
        FunctionLoops function;
        function.is_understood = true;
        function.places = {{0x100, 0, true}};
        function.loop_of = {depth - 1};
        for (std::uint32_t i = 0; i < depth; ++i) function.loops.push_back({0x100 + i, i - 1, FunctionLoops::none, 0}); // the first has none
        function.next.resize(1 + depth);
        EXPECT_EQ(is_accepted(encoded({{}, {function}})), depth == FunctionLoops::deepest);
    }
}

TEST(CodeLoops, BeyondTheLastAddressAreRefused) {
    FunctionLoops function;
    function.places = {{~std::uint64_t{0} - 4, 0, true}, {~std::uint64_t{0} - 2, 0, true}};
    test::ByteVector bytes = encoded({{}, {function}});
    EXPECT_TRUE(is_accepted(bytes));
    bytes.back() = 5 * 4; // the distance from the first
    EXPECT_FALSE(is_accepted(bytes));
}
