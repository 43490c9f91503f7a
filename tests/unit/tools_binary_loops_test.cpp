// Loops of compiled code as the analysis of traces asks for them: of functions in this file, by the addresses that their calls return to.
#include "tools/timeseries/binary_loops.hpp"

#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <link.h>
#include <map>
#include <thread>
#include <unistd.h>

using namespace libprofile::tools;

namespace {

std::map<int, std::uint64_t> sites; // by number: where note() was called, as an address of the file

[[gnu::noinline]] void note(int number) {
    const auto back = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
    Dl_info info;
    link_map* map = nullptr;
    dladdr1(reinterpret_cast<void*>(back), &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP);
    sites[number] = back - map->l_addr - 1; // inside the call, as the runtime writes it
}

constexpr int outer_loop_line = __LINE__ + 3;
[[gnu::noinline]] void loops_in_each_other(int passes) {
    note(0);
    for (int i = 0; i < passes; ++i) {
        note(1);
        for (int k = 0; k < passes; ++k) note(2);
        if (i % 2 == 0)
            note(3);
        else
            note(4);
        note(5);
    }
    note(6);
}

std::string build_id_of(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf* elf = elf_begin(fd, ELF_C_READ, nullptr);
    const void* bits = nullptr;
    const ssize_t size = dwelf_elf_gnu_build_id(elf, &bits);
    const std::string id = size > 0 ? std::string(static_cast<const char*>(bits), static_cast<std::size_t>(size)) : "";
    elf_end(elf);
    ::close(fd);
    return id;
}

/// A profile with this program as its module 0, and where loops_in_each_other() makes its calls.
struct OwnCode : testing::Test {
    Profile profile;

    OwnCode() {
        const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
        profile.modules = {{build_id_of(self), self}};
        loops_in_each_other(2);
        add_sites(0);
    }
    void add_sites(std::uint32_t module) {
        for (const auto& [number, offset] : sites) profile.sites.push_back({module, offset, {}, {}});
    }
    static CodePlace at(int number) { return {0, sites.at(number)}; }
};

using BinaryLoopsOf = OwnCode;

} // namespace

TEST_F(BinaryLoopsOf, AProgramAreThoseOfItsSource) {
    const BinaryLoops loops(profile);
    const std::vector<std::uint64_t> outer = loops.loops_around(at(1)), inner = loops.loops_around(at(2));
    EXPECT_TRUE(loops.loops_around(at(0)).empty());
    EXPECT_TRUE(loops.loops_around(at(6)).empty());
    ASSERT_EQ(outer.size(), 1u);
    ASSERT_EQ(inner.size(), 2u);
    EXPECT_EQ(inner[0], outer[0]);
    EXPECT_NE(inner[1], outer[0]);
    for (const int number : {3, 4, 5}) EXPECT_EQ(loops.loops_around(at(number)), outer) << number;
    EXPECT_EQ(loops.source({0, outer[0]}).line, static_cast<std::uint64_t>(outer_loop_line));
    EXPECT_TRUE(loops.is_known(at(0)));
    EXPECT_TRUE(loops.absent().empty());
}

TEST_F(BinaryLoopsOf, AProgramTellWhatMayFollowInOnePass) {
    const BinaryLoops loops(profile);
    const std::uint64_t outer = loops.loops_around(at(1)).at(0);
    EXPECT_EQ(loops.reaches(outer, at(1), at(2)), Reach::Yes);
    EXPECT_EQ(loops.reaches(outer, at(2), at(5)), Reach::Yes);
    EXPECT_EQ(loops.reaches(outer, at(5), at(1)), Reach::No); // only by the back edge
    EXPECT_EQ(loops.reaches(outer, at(3), at(4)), Reach::No); // either the one or the other
    EXPECT_EQ(loops.reaches(0, at(5), at(1)), Reach::Yes);    // in another pass
    EXPECT_EQ(loops.reaches(0, at(0), at(6)), Reach::Yes);
    EXPECT_EQ(loops.reaches(0, at(6), at(0)), Reach::No);
    EXPECT_EQ(loops.reaches(outer, at(0), at(5)), Reach::Unknown); // not inside
}

TEST_F(BinaryLoopsOf, AFileThatIsNotHereAreUnknown) {
    profile.modules.push_back({"", "/nowhere/application"});
    profile.modules.push_back({"", "[vdso]"});
    add_sites(1);
    add_sites(2);
    const BinaryLoops loops(profile);
    EXPECT_TRUE(loops.absent().empty()); // nothing was asked
    for (const std::uint32_t module : {1u, 2u}) {
        EXPECT_TRUE(loops.loops_around({module, sites.at(2)}).empty());
        EXPECT_EQ(loops.reaches(0, {module, sites.at(0)}, {module, sites.at(6)}), Reach::Unknown);
        EXPECT_FALSE(loops.is_known({module, sites.at(0)}));
    }
    ASSERT_EQ(loops.absent().size(), 2u); // each once
    EXPECT_EQ(loops.absent()[0].module, 1u);
    EXPECT_EQ(loops.absent()[0].state, ModuleState::Missing);
}

TEST_F(BinaryLoopsOf, AnotherBuildAreNotUsed) {
    ASSERT_FALSE(profile.modules[0].build_id.empty());
    profile.modules[0].build_id[0] ^= 1;
    const BinaryLoops loops(profile);
    EXPECT_TRUE(loops.loops_around(at(2)).empty());
    EXPECT_EQ(loops.reaches(0, at(0), at(6)), Reach::Unknown);
    ASSERT_EQ(loops.absent().size(), 1u);
    EXPECT_EQ(loops.absent()[0].state, ModuleState::Different);
}

TEST_F(BinaryLoopsOf, AFileThatIsNoProgramAreUnknown) {
    const std::filesystem::path text = std::filesystem::temp_directory_path() / ("no_program." + std::to_string(::getpid()));
    std::ofstream(text) << "not an ELF file\n";
    profile.modules[0] = {"", text.string()};
    const BinaryLoops loops(profile);
    EXPECT_TRUE(loops.loops_around(at(2)).empty());
    EXPECT_EQ(loops.absent().size(), 1u);
    std::filesystem::remove(text);
}

TEST_F(BinaryLoopsOf, AProgramThatIsGoneAreThoseThatWereKept) {
    const std::uint64_t no_code = 1;
    profile.sites.push_back({0, no_code, {}, {}}); // in the file's header
    const BinaryLoops here(profile);
    for (ReadLoops& read : read_missing_loops(profile)) profile.loops.push_back(std::move(read.loops));
    EXPECT_TRUE(read_missing_loops(profile)[0].loops.empty()); // nothing is missing any more
    Profile gone = profile, rebuilt = profile, unnamed = profile;
    gone.modules[0].path = "/nowhere/application";
    rebuilt.modules[0].build_id[0] ^= 1;
    unnamed.modules[0] = {"", "/nowhere/application"};
    for (const Profile* moved : {&gone, &rebuilt, &unnamed}) {
        const BinaryLoops there(*moved);
        for (const auto& [one, from] : sites) {
            const std::vector<std::uint64_t> around = here.loops_around(at(one));
            EXPECT_EQ(there.loops_around(at(one)), around);
            EXPECT_TRUE(there.is_known(at(one)));
            for (const std::uint64_t loop : around) EXPECT_EQ(there.source({0, loop}).line, here.source({0, loop}).line);
            for (const auto& [other, to] : sites) {
                EXPECT_EQ(there.reaches(0, at(one), at(other)), here.reaches(0, at(one), at(other)));
                for (const std::uint64_t loop : around)
                    EXPECT_EQ(there.reaches(loop, at(one), at(other)), here.reaches(loop, at(one), at(other))) << one << " " << other;
            }
        }
        EXPECT_FALSE(there.is_known({0, no_code}));
        EXPECT_TRUE(there.absent().empty()); // it was looked at
    }
    gone.sites.push_back({0, 2, {}, {}});
    const BinaryLoops there(gone);
    EXPECT_FALSE(there.is_known({0, 2}));
    EXPECT_EQ(there.absent().size(), 1u); // this was not
    EXPECT_EQ(there.loops_around(at(2)).size(), 2u);
}

TEST_F(BinaryLoopsOf, AProgramAreTheSameForManyThreads) {
    const BinaryLoops loops(profile), one(profile);
    const std::vector<std::uint64_t> inner = one.loops_around(at(2));
    std::vector<int> right(4);
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                for (int i = 0; i < 200; ++i)
                    right[static_cast<std::size_t>(t)] += loops.loops_around(at(2)) == inner && loops.reaches(0, at(6), at(0)) == Reach::No;
            });
    }
    for (const int count : right) EXPECT_EQ(count, 200);
}
