// Functions with their callers, and lines of functions: on random trees their sums are those of the tree, and recursion counts once.
#include "tools/analysis/bottom_up.hpp"
#include "tools/analysis/function_lines.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/source_text.hpp"
#include "tools/report/selection.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sys/stat.h>

using namespace libprofile;
using namespace libprofile::tools;
using Json = nlohmann::json;

namespace {

/// Functions a, b, ... that call each other in any way, on several lines each; and calls of two MPI functions.
Profile random_profile(unsigned seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    Profile profile;
    profile.job.ranks = 2;
    profile.modules = {{"", "/app"}};
    profile.functions = {{"MPI_Send", TimeCategory::MpiP2p}, {"MPI_Bcast", TimeCategory::MpiColl}};
    for (std::uint32_t s = 0; s < 15; ++s) {
        const std::string name(1, static_cast<char>('a' + s / 3));
        profile.sites.push_back({0, s, {"ns::" + name + "(int)", "/src/" + name + ".cpp", 10 + s % 3}, {}});
    }
    profile.metrics = {{"time", "ns", ""}};
    for (const CatalogueRow& row : metric_catalogue)
        if (row.kind == CatalogueKind::Direct) profile.metrics.push_back({row.name, row.unit, ""});
    profile.phases = {{"", PhaseKind::Outside}};
    profile.paths = {{}};
    for (std::uint32_t p = 1; p < 400; ++p) {
        std::uint32_t parent = below(p);
        while (is_call(profile.paths[parent].kind)) parent = below(p);
        if (parent != 0 && below(4) == 0)
            profile.paths.push_back({parent, NodeKind::Mpi, below(2), 0});
        else
            profile.paths.push_back({parent, below(8) == 0 ? NodeKind::OffCpu : NodeKind::Frame, below(15), 0});
        if (profile.paths.back().kind == NodeKind::OffCpu) profile.paths.back().target = 0;
    }
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        Location location;
        location.rank = rank;
        PhaseData data;
        for (std::uint32_t p = 0; p < profile.paths.size(); ++p) {
            if (is_code(profile.paths[p].kind) || below(3) != 0) data.rest.push_back({p, 0, 1 + below(1000)});
            if (is_call(profile.paths[p].kind)) data.rest.push_back({p, static_cast<std::uint32_t>(Metric::Visits), 1 + below(50)});
            if (is_code(profile.paths[p].kind)) data.rest.push_back({p, static_cast<std::uint32_t>(Metric::Samples), 1 + below(5)});
        }
        for (const Cell& cell : data.rest) location.wall_ns += cell.metric == 0 ? cell.value : 0;
        location.phases = {data};
        profile.locations.push_back(location);
        profile.ranks[rank].complete = true;
    }
    return profile;
}

struct Selected {
    Profile profile;
    std::vector<const Location*> locations;
    FunctionTree tree;
    TreeChoice choice;
    SelectedTree values;

    explicit Selected(unsigned seed, const std::string& path = "") : profile(random_profile(seed)) {
        for (const Location& location : profile.locations) locations.push_back(&location);
        tree = make_function_tree(profile, locations, true, path);
        choice.locations = locations;
        choice.rows = {static_cast<std::size_t>(CatalogueId::Total), static_cast<std::size_t>(CatalogueId::Visits),
                       static_cast<std::size_t>(CatalogueId::Samples)};
        values = select_tree(profile, tree, choice);
    }
    std::vector<bool> counts() const {
        std::vector<bool> list;
        for (const std::uint32_t node : tree.node_of_path) list.push_back(tree.counts[node]);
        return list;
    }
};

/// Names from a node of the tree up to the outermost, of those chains that begin like `chain`.
bool is_called_so(const FunctionTree& tree, std::uint32_t node, const std::vector<std::uint32_t>& chain) {
    for (const std::uint32_t like : chain) {
        if (tree.nodes[node].kind != tree.nodes[like].kind || tree.nodes[node].name != tree.nodes[like].name || (node == 0) != (like == 0)) return false;
        node = node == 0 ? 0 : static_cast<std::uint32_t>(tree.nodes[node].parent);
    }
    return true;
}

} // namespace

TEST(BottomUp, SumsAreThoseOfTheTreeAndRecursionCountsOnce) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        const Selected s(seed, seed % 4 == 0 ? "b" : "");
        BottomUp up(s.tree, s.values);
        for (std::uint32_t r = 0; r < up.rows().size() && r < 400; ++r) up.add_callers(r);
        for (std::size_t m = 0; m < s.choice.rows.size(); ++m) {
            std::uint64_t all = 0;
            for (std::size_t f = 0; f < up.functions(); ++f) all += up.rows()[f].own[m].value;
            EXPECT_EQ(all, s.values.inclusive[0][m].value) << seed;
        }
        // Each row against the nodes that it stands for, found by looking at all of them.
        for (std::uint32_t r = 0; r < std::min<std::size_t>(up.rows().size(), 400); ++r) {
            std::vector<std::uint32_t> chain;
            for (std::uint32_t at = r; at != BottomUp::none; at = up.rows()[at].called) chain.insert(chain.begin(), up.rows()[at].node);
            std::set<std::uint32_t> nodes;
            for (std::uint32_t n = 0; n < s.tree.nodes.size(); ++n)
                if (is_called_so(s.tree, n, chain)) nodes.insert(n);
            std::uint64_t own = 0, inclusive = 0;
            for (const std::uint32_t n : nodes) {
                own += s.values.exclusive[n][0].value;
                bool is_inner = false;
                for (int up_to = s.tree.nodes[n].parent; up_to > 0; up_to = s.tree.nodes[static_cast<std::size_t>(up_to)].parent)
                    is_inner = is_inner || nodes.contains(static_cast<std::uint32_t>(up_to));
                inclusive += is_inner ? 0 : n == 0 ? s.values.exclusive[0][0].value : s.values.inclusive[n][0].value;
            }
            EXPECT_EQ(up.rows()[r].own[0].value, own) << seed << " row " << r;
            EXPECT_EQ(up.rows()[r].inclusive[0].value, inclusive) << seed << " row " << r;
            EXPECT_LE(inclusive, s.values.inclusive[0][0].value);
        }
    }
}

TEST(BottomUp, CallersHaveAllButWhatNobodyCalls) {
    const Selected s(7);
    BottomUp up(s.tree, s.values);
    for (std::uint32_t r = 0; r < up.functions(); ++r) {
        std::uint64_t outermost = 0;
        for (std::uint32_t n = 0; n < s.tree.nodes.size(); ++n)
            if (s.tree.nodes[n].parent <= 0 && is_called_so(s.tree, n, {up.rows()[r].node})) outermost += s.values.exclusive[n][0].value;
        const auto [first, end] = up.add_callers(r);
        std::uint64_t sum = 0;
        for (std::uint32_t caller = first; caller < end; ++caller) {
            sum += up.rows()[caller].own[0].value;
            EXPECT_EQ(up.rows()[caller].depth, 1u);
        }
        EXPECT_EQ(sum + outermost, up.rows()[r].own[0].value);
    }
}

TEST(BottomUp, TheReportHasEveryFunctionAndItsTextTheHeaviest) {
    const Profile profile = random_profile(3);
    ReportChoice choice;
    choice.bottom_up = true;
    const Json json = Json::parse(document_json(selection_report(profile, choice, {true, false, "FOLDER"})));
    std::uint64_t sum = 0;
    for (const Json& row : json["bottom_up"])
        if (row["depth"] == 0) sum += row["time"].get<std::uint64_t>();
    EXPECT_EQ(sum, json["selection"]["time"].get<std::uint64_t>());
    choice.top = 3;
    const std::string text = document_text(selection_report(profile, choice, {false, false, "FOLDER"}), {});
    EXPECT_NE(text.find("Functions and their callers"), std::string::npos) << text;
    EXPECT_NE(text.find("more functions"), std::string::npos) << text;
}

TEST(FunctionLines, SumsAreThoseOfTheFunctionAndRecursionCountsOnce) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        const Selected s(seed, seed % 4 == 0 ? "c" : "");
        const BottomUp up(s.tree, s.values);
        for (const std::string& name : function_names(s.profile)) {
            const FunctionLines found = function_lines(s.profile, name, s.counts(), s.choice);
            std::vector<SelectedValue> own(s.choice.rows.size());
            for (const FunctionLine& line : found.lines) {
                EXPECT_EQ(line.file, "/src/" + name.substr(4) + ".cpp");
                EXPECT_GE(line.line, 10u);
                EXPECT_LE(line.inclusive[0].value, found.inclusive[0].value) << name << ":" << line.line << " seed " << seed;
                for (std::size_t m = 0; m < own.size(); ++m) own[m].add(line.own[m]);
            }
            for (std::uint32_t r = 0; r < up.functions(); ++r)
                if (s.tree.nodes[up.rows()[r].node].name == name && up.rows()[r].node != 0) {
                    for (std::size_t m = 0; m < own.size(); ++m) {
                        EXPECT_EQ(own[m].value, up.rows()[r].own[m].value) << name << " seed " << seed;
                        EXPECT_EQ(found.inclusive[m].value, up.rows()[r].inclusive[m].value) << name << " seed " << seed;
                    }
                }
        }
    }
}

TEST(FunctionLines, AFunctionIsFoundByItsNameOrByAPartThatOnlyItHas) {
    Profile profile = random_profile(1);
    profile.sites[0].name.function = "Solver<double>::step(int) const";
    profile.sites[1].name.function = "substep";
    profile.sites[2].name.function = "Other::step()";
    const auto found = [&](const char* text) {
        std::vector<std::string> names = functions_called(profile, text);
        std::sort(names.begin(), names.end());
        return names;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(found("substep"), Names{"substep"});
    EXPECT_EQ(found("SUBST"), Names{"substep"});
    EXPECT_EQ(found("Solver<double>::step(int) const"), Names{"Solver::step"});
    EXPECT_EQ(found("Other::step"), Names{"Other::step"});
    EXPECT_EQ(found("step"), (Names{"Other::step", "Solver::step"}));
    EXPECT_EQ(found("nothing"), Names{});
    const auto refused = [&](const char* text) -> std::string {
        ReportChoice choice;
        choice.source = text;
        try {
            selection_report(profile, choice, {true, false, "FOLDER"});
        } catch (const SelectionError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(refused("step").find("may be several functions: \""), std::string::npos) << refused("step");
    EXPECT_NE(refused("sbstep").find("did you mean \"substep\"?"), std::string::npos) << refused("sbstep");
    EXPECT_NE(refused("MPI_Send").find("--path MPI_Send"), std::string::npos) << refused("MPI_Send");
    EXPECT_NE(refused("xxxxxxxxxxxxxx").find("those with most time are"), std::string::npos);
}

TEST(SourceText, IsOnlyReadFromRegularFilesOfText) {
    const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "libprofile_source_text";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "new/deep");
    std::filesystem::create_directories(folder / "folder.cpp");
    const auto write = [&](const char* name, const std::string& text) { std::ofstream(folder / name) << text; };
    write("new/deep/a.cpp", "int a;\n\tint b;\x1b[31m\r\nlast");
    write("secret", "key");
    write("key.pem", "key");
    write("binary.c", std::string("a\0b", 3));
    write("empty.c", "");
    std::filesystem::resize_file(folder / "empty.c", std::uintmax_t{17} << 20); // a hole
    ASSERT_EQ(::mkfifo((folder / "pipe.c").c_str(), 0600), 0);
    const auto problem = [&](const char* name) { return read_source(folder / name, {}).problem; };
    EXPECT_EQ(problem("folder.cpp"), "it is a folder");
    EXPECT_EQ(problem("secret"), "it is not named like source code");
    EXPECT_EQ(problem("key.pem"), "it is not named like source code");
    EXPECT_EQ(problem("binary.c"), "it is no text");
    EXPECT_EQ(problem("empty.c"), "it is larger than 16 MiB");
    EXPECT_EQ(problem("pipe.c"), "it is no regular file");
    EXPECT_EQ(problem("missing.c"), "No such file or directory");

    const SourceText text = read_source(folder / "new/deep/../deep/a.cpp", {});
    EXPECT_EQ(text.problem, "");
    EXPECT_EQ(text.lines, (std::vector<std::string>{"int a;", "        int b;?[31m", "last"}));
    EXPECT_GT(text.changed_ns, 0);
    // The first map that has the file; whole names of folders only.
    const std::string to = (folder / "new").string();
    EXPECT_EQ(read_source("/build/x/deep/a.cpp", {{"/build", "/nowhere"}, {"/build/x/", to}}).path, to + "/deep/a.cpp");
    EXPECT_EQ(read_source("/build/xy/deep/a.cpp", {{"/build/x", to}}).problem, "No such file or directory");
    EXPECT_EQ(read_source("deep/a.cpp", {{"deep", to + "/deep"}}).problem, "");
    EXPECT_EQ(read_source("", {}).problem, "it is not named like source code");
    std::filesystem::remove_all(folder);
}
