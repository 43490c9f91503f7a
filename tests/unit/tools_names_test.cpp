// Names: from debug information, from symbol tables, stored ones, and none.
#include "tests/unit/tools_profile_builder.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/resolve.hpp"
#include "tools/names/symbols.hpp"
#include "tools/profile/reader.hpp"
#include "tools/text/json_text.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace example {
template <class T>
__attribute__((noinline)) T looked_up_function(T value) {
    return value * 3;
}
} // namespace example

namespace {

/// ELF virtual address of a function of this program, a byte into it.
std::uint64_t offset_of(double (*function)(double)) {
    Dl_info info{};
    const link_map* map = nullptr;
    dladdr1(reinterpret_cast<void*>(function), &info,
            const_cast<void**>(reinterpret_cast<const void**>(&map)), RTLD_DL_LINKMAP);
    return reinterpret_cast<std::uintptr_t>(function) - map->l_addr + 1;
}

std::string this_program() {
    return std::filesystem::read_symlink("/proc/self/exe").string();
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

TEST(Names, StrippedModuleDegradesToOffset) {
    const std::filesystem::path copy =
        std::filesystem::temp_directory_path() / ("lprof-stripped-" + std::to_string(::getpid()));
    const std::string command = "strip -o '" + copy.string() + "' '" + this_program() + "' 2>/dev/null";
    if (std::system(command.c_str()) != 0)
        GTEST_SKIP() << "no strip(1)";
    const std::uint64_t offset = offset_of(&example::looked_up_function<double>);
    Profile p = profile_with({"", copy.string()}, offset);
    resolve_names(p, false);
    const std::string name = label_of(p, p.paths[1]).name;
    EXPECT_EQ(name.find(copy.filename().string() + "+0x"), 0u) << name;
    std::filesystem::remove(copy);
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
    Profile p =
        profile_with({"another build", this_program()}, offset_of(&example::looked_up_function<double>));
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
    EXPECT_EQ(
        short_function_name("void ns::f<int, (A)3>(std::vector<int, std::allocator<int> > const&) const"),
        "ns::f");
    EXPECT_EQ(short_function_name("(anonymous namespace)::step(int)"), "(anonymous namespace)::step");
    EXPECT_EQ(short_function_name("main::{lambda(int)#1}::operator()(int) const"),
              "main::{lambda}::operator()");
    EXPECT_EQ(short_function_name("f(int)::{lambda()#1}::operator()() const"), "f::{lambda}::operator()");
    EXPECT_EQ(short_function_name("std::ostream& operator<< <char>(std::ostream&, char)"), "operator<<");
    EXPECT_EQ(short_function_name("A::operator()(int)"), "A::operator()");
    EXPECT_EQ(short_function_name("A::operator bool() const"), "A::operator bool");
    EXPECT_EQ(short_function_name("operator new(unsigned long)"), "operator new");
    EXPECT_EQ(short_function_name("bool operator< <int>(A<int> const&, A<int> const&)"), "operator<");
    EXPECT_EQ(short_function_name("unbalanced("), "unbalanced");
    EXPECT_EQ(short_function_name("<>"), "<>");
}

TEST(Names, PrintableKeepsTextAndDropsControls) {
    EXPECT_EQ(printable("Größe µ 漢字"), "Größe µ 漢字");
    EXPECT_EQ(printable("a\x1b[31mb\nc"), "a?[31mb?c");
    EXPECT_EQ(printable("\xff\xc3"), "??");
    EXPECT_EQ(printable("\xc2\x9b"), "?"); // CSI as one character
    EXPECT_EQ(printable("a\u202eb\u2066c\u2028d\ufeffe\U000e0041f"), "a?b?c?d?e?f");
    EXPECT_EQ(printable("\xe0\x80\x9b \xed\xa0\x80 \xf4\x90\x80\x80"), "??? ??? ????"); // not the shortest form, half a pair, beyond Unicode
    EXPECT_EQ(with_escapes("{\n\"\u009b\u202e\x7f\U000e0041\": \"Größe 漢字 🙂\"}"), "{\n\"\\u009b\\u202e\\u007f\\udb40\\udc41\": \"Größe 漢字 🙂\"}");
}
