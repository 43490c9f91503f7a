// Loops of compiled functions against the marks in their source (tests/programs/nests), with both compilers, with and without optimisation.
#include "tools/code/loop_lines.hpp"
#include "tools/code/loop_nest.hpp"
#include "tools/code/no_return.hpp"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <sstream>

using namespace libprofile::tools;

namespace {

/// What a source file says of itself.
struct Marks {
    struct Loop {
        std::string outer;     // "none" if there is none
        std::string optimised; // "", "gone" or "copies"
    };
    std::map<std::string, Loop> loops;
    std::map<std::uint64_t, std::string> loop_of_line;
    std::map<std::uint64_t, std::set<std::string>> calls; // by line: the innermost loop, or several possible
    std::map<std::string, std::uint64_t> sites;           // lines of named calls
    std::set<std::uint64_t> labels;                       // lines
};

Marks read_marks(const std::string& path) {
    Marks marks;
    std::ifstream in(path);
    std::string text;
    static const std::regex loop(R"(loop (\w+)(?: in (\w+))?(?:; O2: (\w+))?)"), calls(R"(calls in ([\w|]+))"), site(R"(site (\w+))");
    for (std::uint64_t line = 1; std::getline(in, text); ++line) {
        std::smatch found;
        const std::size_t comment = text.find_first_of(path.ends_with("f90") ? "!" : "/");
        if (comment == std::string::npos || text.find("\"loop") != std::string::npos) continue;
        const std::string mark = text.substr(comment);
        if (std::regex_search(mark, found, loop)) {
            marks.loops[found[1]] = {found[2].matched ? found[2].str() : "none", found[3]};
            marks.loop_of_line[line] = found[1];
        }
        if (std::regex_search(mark, found, calls)) {
            std::istringstream names(found[1]);
            for (std::string name; std::getline(names, name, '|');) marks.calls[line].insert(name);
        }
        if (mark.find("* label *") != std::string::npos) marks.labels.insert(line);
        if (std::regex_search(mark, found, site)) marks.sites[found[1]] = line;
    }
    return marks;
}

const SiteName& innermost(const SourceCode& source) { return source.inlined.empty() ? source.function : source.inlined.back(); }

/// A compiled source file.
class Nests : public testing::TestWithParam<std::string> {
  protected:
    const std::string path_ = GetParam();
    const bool is_optimised_ = path_.find("-O2") != std::string::npos;
    const Marks marks_ = read_marks(NESTS_SOURCES "/nests." + path_.substr(path_.rfind('-') + 1, path_.rfind('.') - path_.rfind('-') - 1));
    ElfCode code_{path_};
    NoReturn no_return_{code_};
    Symbols symbols_{Module{"", path_}};

    /// Calls visit(nest) for the functions of the source.
    template <class Visit> void for_each_function(Visit visit) {
        for (const CodePart& part : code_.parts()) {
            if (part.is_inner || innermost(symbols_.resolve(part.begin)).line == 0) continue;
            LoopNest nest(FunctionBlocks(code_, part.begin, no_return_));
            unite_copies(symbols_, nest);
            visit(nest);
        }
    }
    std::string name_of(const LoopNest& nest, std::uint32_t loop) {
        if (loop == LoopNest::none) return "none";
        const std::uint64_t line = innermost(source_of(symbols_, nest.loops()[loop])).line;
        const auto mark = marks_.loop_of_line.find(line);
        return mark != marks_.loop_of_line.end() ? mark->second : "unmarked loop at line " + std::to_string(line);
    }
    /// The calls behind labels.
    std::set<std::uint64_t> labels_of(const LoopNest& nest) {
        std::set<std::uint64_t> calls;
        for (const CodeCall& call : nest.blocks().calls())
            if (marks_.labels.count(innermost(symbols_.resolve(call.at)).line) != 0) calls.insert(call.at);
        return calls;
    }
    /// The loop around one in the source that the compiler did not take away.
    std::string left_around(std::string loop) const {
        const auto mark = marks_.loops.find(loop);
        if (mark == marks_.loops.end()) return "?";
        loop = mark->second.outer;
        return loop != "none" && is_optimised_ && marks_.loops.at(loop).optimised == "gone" ? left_around(loop) : loop;
    }
};

std::string short_name(const testing::TestParamInfo<std::string>& info) {
    std::string name = info.param.substr(info.param.rfind('/') + 1);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
    return name;
}

/// Of the source with named calls. With optimisation, compilers know that two of them never come in the same pass.
class CallsOfOnePass : public Nests {};

/// @param end of their names
std::vector<std::string> compiled(std::string_view end) {
    std::vector<std::string> paths;
    std::istringstream in(NESTS_COMPILED);
    for (std::string path; std::getline(in, path, '|');)
        if (path.ends_with(end)) paths.push_back(path);
    return paths;
}

} // namespace

TEST_P(Nests, AreThoseOfTheSource) {
    std::map<std::string, int> found;
    for_each_function([&](const LoopNest& nest) {
        EXPECT_EQ(nest.blocks().problem(), "");
        if (!labels_of(nest).empty()) return; // the next test's
        for (std::uint32_t i = 0; i < nest.loops().size(); ++i) {
            const std::string name = name_of(nest, i);
            ++found[name];
            // Without optimisation an inlined function is still written where it is called.
            EXPECT_EQ(name_of(nest, nest.loops()[i].parent), left_around(name)) << name << std::hex << " at 0x" << nest.loops()[i].header;
        }
    });
    ASSERT_FALSE(marks_.loops.empty());
    for (const auto& [name, mark] : marks_.loops) {
        const int count = found[name];
        if (!is_optimised_ || mark.optimised.empty())
            EXPECT_EQ(count, 1) << name;
        else if (mark.optimised == "gone")
            EXPECT_EQ(count, 0) << name;
        else
            EXPECT_GE(count, 1) << name;
        found.erase(name);
    }
    for (const auto& [name, count] : found) ADD_FAILURE() << name << " comes " << count << " times";
}

TEST_P(Nests, OfLabelsAsValuesAreOne) {
    int found = 0;
    for_each_function([&](const LoopNest& nest) {
        const std::set<std::uint64_t> labels = labels_of(nest);
        if (labels.empty()) return;
        ++found;
        ASSERT_FALSE(nest.loops().empty());
        EXPECT_TRUE(nest.loops().size() == 1 || nest.loops()[1].depth == 2); // one, and perhaps others in it
        for (const CodeCall& call : nest.blocks().calls()) EXPECT_EQ(nest.contains(0, call.at), labels.count(call.at) != 0) << std::hex << call.at;
    });
    EXPECT_EQ(found, marks_.labels.empty() ? 0 : 1);
}

TEST_P(Nests, HoldTheCallsOfTheSource) {
    std::map<std::uint64_t, bool> lines; // whether one of the calls lies where the mark says
    for_each_function([&](const LoopNest& nest) {
        for (const CodeCall& call : nest.blocks().calls()) {
            const auto mark = marks_.calls.find(innermost(symbols_.resolve(call.at)).line);
            if (mark == marks_.calls.end()) continue;
            const std::uint32_t loop = nest.innermost(call.at);
            const bool is_there = mark->second.count(name_of(nest, loop)) != 0;
            lines[mark->first] = lines[mark->first] || is_there;
            // With optimisation, the first pass of a loop may be written before the loop.
            std::set<std::string> around;
            for (const std::string& name : mark->second)
                for (std::string outer = name; outer != "none" && outer != "?"; outer = left_around(outer)) around.insert(left_around(outer));
            EXPECT_TRUE(is_there || (is_optimised_ && around.count(name_of(nest, loop)) != 0)) << "line " << mark->first << ": " << name_of(nest, loop);
            if (loop == LoopNest::none) continue;
            const auto& calls = nest.loops()[loop].calls;
            EXPECT_TRUE(std::find(calls.begin(), calls.end(), call.at) != calls.end());
        }
    });
    for (const auto& [line, is_there] : lines) EXPECT_TRUE(is_there) << "line " << line;
    // Calls at the end of a function become jumps.
    EXPECT_GE(lines.size() + (is_optimised_ ? 6 : 0), marks_.calls.size());
}

TEST_P(CallsOfOnePass, HaveTheOrderOfTheSource) {
    std::map<std::uint64_t, std::uint64_t> at; // by line
    for_each_function([&](const LoopNest& nest) {
        if (nest.loops().size() != 1 || name_of(nest, 0) != "foo") return;
        for (const CodeCall& call : nest.blocks().calls()) at[innermost(symbols_.resolve(call.at)).line] = call.at;
        const auto site = [&](const char* name) { return at.at(marks_.sites.at(name)); };
        const auto reaches = [&](const char* from, const char* to) { return nest.reaches_forward(0, site(from), site(to)); };
        EXPECT_TRUE(reaches("A", "B"));
        EXPECT_TRUE(reaches("A", "C"));
        EXPECT_TRUE(reaches("B", "C"));
        EXPECT_FALSE(reaches("A", "A"));
        EXPECT_FALSE(reaches("B", "A"));
        EXPECT_FALSE(reaches("C", "B"));
        EXPECT_FALSE(reaches("C_before", "A")); // it is not in the loop
        EXPECT_TRUE(nest.reaches_from_start(0, site("B")));
        EXPECT_FALSE(nest.reaches_from_start(0, site("C_before")));
        EXPECT_TRUE(nest.reaches_forward(LoopNest::none, site("C_before"), site("A")));
        EXPECT_FALSE(nest.reaches_forward(LoopNest::none, site("A"), site("C_before")));
        EXPECT_TRUE(nest.reaches_forward(LoopNest::none, site("A"), site("A"))); // in another pass
    });
    EXPECT_EQ(at.size(), 4u);
}

INSTANTIATE_TEST_SUITE_P(Compiled, Nests, testing::ValuesIn(compiled("")), short_name);
INSTANTIATE_TEST_SUITE_P(Compiled, CallsOfOnePass, testing::ValuesIn(compiled("-O0-c.so")), short_name);
