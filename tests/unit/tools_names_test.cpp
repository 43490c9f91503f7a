// Names: from debug information, from symbol tables, stored ones, and none.
#include "tests/unit/tools_profile_builder.hpp"
#include "tools/analysis/unresolved.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/resolve.hpp"
#include "tools/names/symbols.hpp"
#include "tools/names/waiting.hpp"
#include "tools/reader/reader.hpp"
#include "tools/text/json_text.hpp"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace example {
template <class T> __attribute__((noinline)) T looked_up_function(T value) { return value * 3; }
} // namespace example

namespace {

/// ELF virtual address of a function of this program, a byte into it.
std::uint64_t offset_of(double (*function)(double)) {
    Dl_info info{};
    const link_map* map = nullptr;
    dladdr1(reinterpret_cast<void*>(function), &info, const_cast<void**>(reinterpret_cast<const void**>(&map)), RTLD_DL_LINKMAP);
    return reinterpret_cast<std::uintptr_t>(function) - map->l_addr + 1;
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

/// Raw bytes.
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

Profile profile_with(const BuiltModule& module, std::uint64_t offset) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    b.rank(RankRecord{});
    b.modules(0, {module});
    b.functions(0, {});
    b.tree(0, 0, 0, {{0, NodeKind::Frame, 0, offset}});
    const NamedBytes file{"profile.lprof", b.bytes()};
    return read_profile(std::span(&file, 1));
}

} // namespace

TEST(Names, FunctionFileAndLine) {
    Profile p = profile_with({"", this_program()}, offset_of(&example::looked_up_function<double>));
    const Resolution result = resolve_names(p, false);
    EXPECT_EQ(result.added, 1u);
    const Label label = label_of(p, p.paths[1]);
    EXPECT_EQ(label.name, "double example::looked_up_function<double>(double)");
    EXPECT_EQ(short_function_name(label.name), "example::looked_up_function");
    EXPECT_EQ(base_name(label.file), "tools_names_test.cpp");
    EXPECT_GT(label.line, 20u);
    EXPECT_LT(label.line, 30u);
}

TEST(Names, AStrippedModuleHasTheBeginsOfItsFunctions) {
    const std::filesystem::path copy = std::filesystem::temp_directory_path() / ("lprof-stripped-" + std::to_string(::getpid()));
    const std::string command = "strip -o '" + copy.string() + "' '" + this_program() + "' 2>/dev/null";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no strip(1)";
    const std::uint64_t offset = offset_of(&example::looked_up_function<double>), begin = offset - 1;
    Profile p = profile_with({"", copy.string()}, offset);
    resolve_names(p, false);
    const std::string name = label_of(p, p.paths[1]).name;
    EXPECT_EQ(name, begin_as_name(copy.filename().string(), begin));
    EXPECT_TRUE(is_unresolved(p.sites[0].name));
    EXPECT_EQ(short_function_name(name), name);
    // A name that was stored where there were symbols is better, and symbols that appear are, too.
    p.sites[0].name = {"looked_up_function", "", 0};
    EXPECT_EQ(resolve_names(p, false).added, 0u);
    p.sites[0].name = {name, "", 0};
    p.modules[0].path = this_program();
    EXPECT_EQ(resolve_names(p, false).added, 1u);
    EXPECT_FALSE(is_unresolved(p.sites[0].name));
    // Not code.
    Profile data = profile_with({"", copy.string()}, 8);
    resolve_names(data, false);
    EXPECT_EQ(label_of(data, data.paths[1]).name, copy.filename().string() + "+0x8");
    std::filesystem::remove(copy);
}

TEST(Names, ADebugFileBesideAStrippedModuleHasItsNames) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("lprof-debuglink-" + std::to_string(::getpid()));
    fs::create_directories(folder / ".debug");
    const std::string command = "cd '" + folder.string() + "' && objcopy --only-keep-debug '" + this_program() +
                                "' .debug/app.debug && objcopy --strip-all --add-gnu-debuglink=.debug/app.debug '" + this_program() + "' app 2>/dev/null";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no objcopy(1)";
    Profile p = profile_with({"", (folder / "app").string()}, offset_of(&example::looked_up_function<double>));
    resolve_names(p, false);
    EXPECT_EQ(label_of(p, p.paths[1]).name, "double example::looked_up_function<double>(double)");
    EXPECT_NE(p.sites[0].name.line, 0u);
    fs::remove_all(folder);
}

TEST(Names, WhatIsMissingIsSaidWithWhatBringsIt) {
    const auto sentence = [](const BuiltModule& module) {
        ProfileBuilder b(1);
        b.job(1);
        b.metrics();
        b.rank(RankRecord{});
        b.modules(0, {module});
        b.functions(0, {});
        b.tree(0, 0, 100, {{0, NodeKind::Frame, 0, 8}});
        BuiltPhase outside;
        outside.wall_ns = outside.wall_inclusive_ns = 100;
        outside.rest = {{1, Metric::Time, 100}};
        b.phase(0, outside);
        const NamedBytes file{"profile.lprof", b.bytes()};
        const Profile p = read_profile(std::span(&file, 1));
        const std::vector<std::string> sentences = unresolved_modules(p, {&p.locations[0]});
        return sentences.size() == 1 ? sentences[0] : "no sentence";
    };
    EXPECT_NE(sentence({"\x12\x34", "/nowhere/app"}).find("run libprofile report once where the job ran"), std::string::npos);
    EXPECT_NE(sentence({"", this_program()}).find("keep its symbols"), std::string::npos);
    EXPECT_NE(sentence({build_id_of(this_program()), this_program()}).find("/usr/lib/debug/.build-id/"), std::string::npos);
    if (std::filesystem::exists("/var/lib/dpkg/info/coreutils.list")) {
        EXPECT_NE(sentence({"", "/usr/bin/env"}).find("install coreutils-dbgsym"), std::string::npos) << sentence({"", "/usr/bin/env"});
    }
}

TEST(Names, MissingModuleDegradesToOffset) {
    Profile p = profile_with({"\x12\x34", "/nowhere/libgone.so.1"}, 0x4a0);
    EXPECT_EQ(resolve_names(p, false).added, 0u);
    EXPECT_EQ(label_of(p, p.paths[1]).name, "libgone.so.1+0x4a0");
    Profile v = profile_with({"", "[vdso]"}, 0x10);
    resolve_names(v, false);
    EXPECT_EQ(label_of(v, v.paths[1]).name, "[vdso]+0x10");
}

TEST(Names, AnotherBuildIsNotAsked) {
    Profile p = profile_with({"another build", this_program()}, offset_of(&example::looked_up_function<double>));
    const Resolution result = resolve_names(p, false);
    EXPECT_EQ(result.added, 0u);
    ASSERT_EQ(result.different.size(), 1u);
    EXPECT_NE(label_of(p, p.paths[1]).name.find("+0x"), std::string::npos);
}

TEST(Names, StoredNamesTravel) {
    Profile here = profile_with({"build", "/home/user/app"}, 0x100);
    here.sites[0].name = {"solve(int)", "/home/user/solve.cpp", 42};
    here.sites[0].inlined = {{"outer()", "/home/user/a.hpp", 7}, {"inner()", "", 0}};
    const std::vector<unsigned char> stored = encode_names(here);
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    b.rank(RankRecord{});
    b.modules(0, {{"build", "/elsewhere/app"}});
    b.functions(0, {});
    b.tree(0, 0, 0, {{0, NodeKind::Frame, 0, 0x100}, {0, NodeKind::Frame, 0, 0x200}});
    const std::vector<NamedBytes> files = {{"profile.lprof", b.bytes()}, {names_file, stored}};
    const Profile there = read_profile(files);
    EXPECT_TRUE(there.notes.empty());
    EXPECT_EQ(label_of(there, there.paths[1]).name, "solve(int)");
    EXPECT_EQ(label_of(there, there.paths[1]).line, 42u);
    ASSERT_EQ(there.sites[0].inlined.size(), 2u);
    EXPECT_EQ(there.sites[0].inlined[0].function, "outer()");
    EXPECT_EQ(there.sites[0].inlined[0].line, 7u);
    EXPECT_EQ(there.sites[0].inlined[1].function, "inner()");
    EXPECT_EQ(label_of(there, there.paths[2]).name, "app+0x200");

    // Damaged names are not a damaged profile.
    std::vector<unsigned char> damaged = stored;
    damaged[70] ^= 1;
    const std::vector<NamedBytes> with_damage = {{"profile.lprof", b.bytes()}, {names_file, damaged}};
    EXPECT_TRUE(read_profile(with_damage).notes.empty());
}

TEST(Names, StoringIntoAFolderThatIsNotThere) {
    const Profile p = profile_with({"", "/app"}, 1);
    EXPECT_FALSE(store_names(p, "/nonexistent/folder"));
}

TEST(Names, ShortForms) {
    EXPECT_EQ(short_function_name("main"), "main");
    EXPECT_EQ(short_function_name("void ns::f<int, (A)3>(std::vector<int, std::allocator<int> > const&) const"), "ns::f");
    EXPECT_EQ(short_function_name("(anonymous namespace)::step(int)"), "(anonymous namespace)::step");
    EXPECT_EQ(short_function_name("main::{lambda(int)#1}::operator()(int) const"), "main::{lambda}::operator()");
    EXPECT_EQ(short_function_name("f(int)::{lambda()#1}::operator()() const"), "f::{lambda}::operator()");
    EXPECT_EQ(short_function_name("std::ostream& operator<< <char>(std::ostream&, char)"), "operator<<");
    EXPECT_EQ(short_function_name("A::operator()(int)"), "A::operator()");
    EXPECT_EQ(short_function_name("A::operator bool() const"), "A::operator bool");
    EXPECT_EQ(short_function_name("operator new(unsigned long)"), "operator new");
    EXPECT_EQ(short_function_name("bool operator< <int>(A<int> const&, A<int> const&)"), "operator<");
    EXPECT_EQ(short_function_name("unbalanced("), "unbalanced");
    EXPECT_EQ(short_function_name("<>"), "<>");
}

TEST(Names, FunctionsThatWaitAreKnownByNameAndLibrary) {
    for (const char* name : {"fsync", "__GI___libc_write", "__libc_pwrite64", "__write_nocancel", "_IO_fflush", "posix_fallocate64"})
        EXPECT_EQ(waiting_kind(name, "libc.so.6"), "I/O") << name;
    for (const char* name : {"___pthread_mutex_lock", "__lll_lock_wait_private", "pthread_cond_timedwait", "sem_clockwait"})
        EXPECT_EQ(waiting_kind(name, "libc.so.6"), "lock") << name;
    for (const char* name : {"clock_nanosleep", "__clock_nanosleep", "usleep"}) EXPECT_EQ(waiting_kind(name, "libc.so.6"), "sleep") << name;
    for (const char* name : {"__poll", "epoll_pwait", "__pthread_clockjoin_ex", "__recv"}) EXPECT_EQ(waiting_kind(name, "libc.so.6"), "wait") << name;
    for (const char* name : {"memcpy", "", "_", "__libc_start_main", "printf_read", "reads"}) EXPECT_EQ(waiting_kind(name, "libc.so.6"), "") << name;
    EXPECT_EQ(waiting_kind("read", "app"), ""); // the program's own
    EXPECT_EQ(waiting_kind("H5Dwrite", "libhdf5.so.103"), "I/O");
    EXPECT_EQ(waiting_kind("_gfortran_st_write_done", "libgfortran.so.5"), "I/O");
}

TEST(Names, PrintableKeepsTextAndDropsControls) {
    EXPECT_EQ(printable("Größe µ 漢字"), "Größe µ 漢字");
    EXPECT_EQ(printable("a\x1b[31mb\nc"), "a?[31mb?c");
    EXPECT_EQ(printable("\xff\xc3"), "??");
    EXPECT_EQ(printable("\xc2\x9b"), "?"); // CSI as one character
    EXPECT_EQ(printable("a\u202eb\u2066c\u2028d\ufeffe\U000e0041f"), "a?b?c?d?e?f");
    EXPECT_EQ(printable("\xe0\x80\x9b \xed\xa0\x80 \xf4\x90\x80\x80"), "??? ??? ????"); // not the shortest form, half a pair, beyond Unicode
    EXPECT_EQ(with_escapes("{\n\"\u009b\u202e\x7f\U000e0041\": \"Größe 漢字 🙂\"}"),
              "{\n\"\\u009b\\u202e\\u007f\\udb40\\udc41\": \"Größe 漢字 🙂\"}");
}
