// Inlined functions and interpreters in call paths: sums, callers, names, and what the reports make of them.
#include "tests/unit/tools_read_one.hpp"
#include "tools/analysis/hot_spots.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/names/demangle.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/names/interpreters.hpp"
#include "tools/names/labels.hpp"
#include "tools/report/json.hpp"
#include "tools/report/text.hpp"

#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;
using Json = nlohmann::json;

namespace {

/// The sample job; where solve is, sweep() and kernel() are inlined.
Profile with_inlined(std::uint32_t ranks) {
    Profile p = read_one(sample_file(ranks, true));
    for (Site& site : p.sites) {
        if (site.offset == 0x1000) site.name = {"main", "main.cpp", 10};
        if (site.offset == 0x2000) {
            site.name = {"solve(int)", "solve.cpp", 20};
            site.inlined = {{"sweep(double)", "sweep.hpp", 30}, {"kernel()", "kernel.hpp", 40}};
        }
    }
    expand_inlined(p);
    return p;
}

const CallPath* find(const Profile& p, NodeKind kind, const std::string& name) {
    for (const CallPath& path : p.paths)
        if (path.kind == kind && label_of(p, path).name == name) return &path;
    return nullptr;
}

} // namespace

TEST(Inlined, AreNodesBetweenAFunctionAndItsCallees) {
    const Profile p = with_inlined(1);
    const CallPath* kernel = find(p, NodeKind::Inlined, "kernel()");
    const CallPath* reduce = find(p, NodeKind::Mpi, "MPI_Allreduce");
    const CallPath* barrier = find(p, NodeKind::Mpi, "MPI_Barrier");
    ASSERT_TRUE(kernel != nullptr && reduce != nullptr && barrier != nullptr);
    const CallPath& sweep = p.paths[kernel->parent];
    const CallPath& solve = p.paths[sweep.parent];
    EXPECT_EQ(label_of(p, sweep).name, "sweep(double)");
    EXPECT_EQ(label_of(p, sweep).line, 30u);
    EXPECT_EQ(label_of(p, *kernel).file, "kernel.hpp");
    EXPECT_EQ(solve.kind, NodeKind::Frame);
    EXPECT_EQ(label_of(p, solve).line, 20u);
    EXPECT_EQ(&p.paths[reduce->parent], kernel);
    EXPECT_EQ(label_of(p, p.paths[barrier->parent]).name, "main");
    for (std::uint32_t i = 1; i < p.paths.size(); ++i) EXPECT_LT(p.paths[i].parent, i) << "parents come first";
    // The samples of a trace are where the values are; their ancestors count the machine's frames.
    EXPECT_EQ(&p.paths[p.locations[0].trace.samples[1].path], kernel);
    EXPECT_EQ(p.locations[0].trace.samples[2].lca_depth, 2u);
    EXPECT_EQ(p.paths[p.locations[0].trace.waits[0].path].kind, NodeKind::Mpi);
}

TEST(Inlined, SumsStayExact) {
    const Profile before = read_one(sample_file(3)), after = with_inlined(3);
    for (std::size_t l = 0; l < before.locations.size(); ++l) EXPECT_EQ(totals(before, before.locations[l]), totals(after, after.locations[l]));
    const Json a = Json::parse(report_json(before)), b = Json::parse(report_json(after));
    EXPECT_EQ(a["metrics"], b["metrics"]);
    for (std::size_t i = 0; i < a["phases"].size(); ++i) {
        const auto sum = [](const Json& phase) {
            std::map<std::string, std::uint64_t> sums;
            for (const Json& path : phase["call_paths"])
                for (const auto& [metric, values] : path["exclusive"].items())
                    for (const Json& value : values) sums[metric] += value.get<std::uint64_t>();
            return sums;
        };
        EXPECT_EQ(sum(a["phases"][i]), sum(b["phases"][i]));
    }
    // Own time is that of the innermost function.
    std::map<std::string, std::uint64_t> time;
    for (const Json& path : b["phases"][1]["call_paths"])
        if (path["kind"] == "frame" || path["kind"] == "inlined") time[path["name"].get<std::string>()] += path["exclusive"]["time"][0].get<std::uint64_t>();
    EXPECT_EQ(time, (std::map<std::string, std::uint64_t>{{"kernel()", 1600}, {"main", 0}, {"solve(int)", 0}, {"sweep(double)", 0}}));
}

TEST(Inlined, ReportsMarkThem) {
    const Profile p = with_inlined(1);
    const std::string text = report_text(p, TextStyle{});
    for (const char* part :
         {"[inlined] kernel", "[inlined] sweep", "kernel.hpp:40", "solve.cpp:20", "kernel.hpp:40 in kernel"}) // the last: what calls MPI_Allreduce
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    bool found = false;
    const Json document = Json::parse(report_json(p));
    for (const Json& path : document["phases"][1]["call_paths"]) {
        if (path["name"] != "kernel()") continue;
        found = true;
        EXPECT_EQ(path["kind"], "inlined");
        EXPECT_EQ(path["line"], 40);
        EXPECT_EQ(path["offset"], 0x2000);
        EXPECT_EQ(path["module"], "/usr/lib/libsolve.so");
    }
    EXPECT_TRUE(found);
}

TEST(Inlined, EndlessChainsDoNotMultiply) {
    Profile p = read_one(sample_file(1));
    for (Site& site : p.sites) site.inlined.resize(2'000'000);
    const std::size_t before = p.paths.size();
    expand_inlined(p);
    EXPECT_EQ(p.paths.size(), before);
}

namespace {

/// main of the interpreter, two of its frames, an extension, one more frame of it, an extension that calls MPI.
Profile python_profile() {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    b.rank(RankRecord{});
    b.modules(0, {{"", "/usr/bin/python3.11"}, {"", "/home/user/_solver.cpython-311-x86_64-linux-gnu.so"}});
    b.functions(0, {{3, "MPI_Allreduce", TimeCategory::MpiColl}});
    b.tree(0, 0, 100,
           {{0, NodeKind::Frame, 0, 0x10},
            {1, NodeKind::Frame, 0, 0x20},
            {2, NodeKind::Frame, 0, 0x30},
            {3, NodeKind::Frame, 1, 0x40},
            {4, NodeKind::Frame, 0, 0x50},
            {5, NodeKind::Frame, 1, 0x60},
            {6, NodeKind::Mpi, 3, 0}});
    BuiltPhase p;
    p.wall_ns = 100;
    p.wall_inclusive_ns = 100;
    p.rest = {{2, Metric::Time, 10}, {3, Metric::Time, 20}, {4, Metric::Time, 30}, {5, Metric::Time, 5}, {7, Metric::Time, 35}, {7, Metric::Visits, 1}};
    b.phase(0, p);
    Profile profile = read_one(b.bytes());
    const std::map<std::uint64_t, std::string> names = {{0x20, "_PyEval_EvalFrameDefault"}, {0x40, "step"}, {0x60, "reduce"}};
    for (Site& site : profile.sites)
        if (const auto name = names.find(site.offset); name != names.end()) site.name.function = name->second;
    return profile;
}

} // namespace

TEST(Interpreters, ModulesAndFunctionsAreRecognised) {
    for (const char* path : {"/usr/bin/python3", "/usr/bin/python3.11", "/usr/bin/python3.11-dbg", "/x/python", "/x/python3.13t", "/lib/libpython3.11.so.1.0",
                             "/lib/libpython3.so", "/lib/libpython3.12d.so.1"})
        EXPECT_TRUE(is_interpreter_module(path)) << path;
    for (const char* path :
         {"/usr/bin/python-app", "/x/pythonic", "/lib/libpythonqt.so", "/lib/libpython3.11.a", "/x/app", "", "/x/_solver.cpython-311-x86_64-linux-gnu.so"})
        EXPECT_FALSE(is_interpreter_module(path)) << path;
    const Profile p = python_profile();
    const InterpreterFrames interpreter(p);
    std::string kinds;
    for (const CallPath& path : p.paths) kinds += interpreter.contains(path) ? 'i' : '-';
    EXPECT_EQ(kinds, "-iii-i--");
}

TEST(Interpreters, AdjacentFramesAreOneInTheText) {
    const Profile p = python_profile();
    const std::vector<FunctionNode> folded = function_tree(p, main_threads(p)), all = function_tree(p, main_threads(p), false);
    std::string names;
    for (const FunctionNode& node : folded) names += "/" + node.name;
    EXPECT_EQ(names, "//(Python interpreter)/step/(Python interpreter)/reduce/MPI_Allreduce");
    EXPECT_EQ(folded[1].exclusive, 30);
    EXPECT_EQ(folded[1].inclusive, 100);
    EXPECT_TRUE(folded[1].interpreter);
    EXPECT_FALSE(folded[2].interpreter);
    EXPECT_EQ(folded[3].exclusive, 5);
    EXPECT_EQ(all.size(), 8u);
    EXPECT_EQ(all[0].inclusive, folded[0].inclusive);

    const std::string text = report_text(p, TextStyle{}), full = report_text(p, TextStyle{}, true);
    EXPECT_NE(text.find("(Python interpreter)"), std::string::npos);
    EXPECT_EQ(full.find("(Python interpreter)"), std::string::npos);
    EXPECT_NE(full.find("python3.11+0x30"), std::string::npos);
    std::string marked;
    const Json document = Json::parse(report_json(p));
    for (const Json& path : document["phases"][0]["call_paths"]) marked += path.value("interpreter", false) ? 'i' : '-';
    EXPECT_EQ(marked, "iii-i--");
}

TEST(Demangling, Fortran) {
    EXPECT_EQ(readable_name("__kernels_MOD_sweep", false), "kernels::sweep");
    EXPECT_EQ(readable_name("__my_mod_MOD_my_mod_init", false), "my_mod::my_mod_init");
    EXPECT_EQ(readable_name("__kernels_MOD_sweep._omp_fn.3", true), "kernels::sweep [omp region 3]");
    EXPECT_EQ(readable_name("shift.0", true), "shift");
    EXPECT_EQ(readable_name("shift.0.constprop.0", false), "shift [constprop]");
    EXPECT_EQ(readable_name("outside_", true), "outside");
    EXPECT_EQ(readable_name("out_side__", true), "out_side");
    EXPECT_EQ(readable_name("outside_", false), "outside_");
    EXPECT_EQ(readable_name("MAIN__", true), "MAIN__");
    EXPECT_EQ(readable_name("__MOD_", false), "__MOD_");
    EXPECT_EQ(readable_name("_MOD_", true), "_MOD");
    EXPECT_EQ(readable_name("", true), "");
    EXPECT_EQ(readable_name("_", true), "_");
}

TEST(Demangling, ClonesAndRegions) {
    EXPECT_EQ(readable_name("_ZN2ns1fEi.constprop.0", false), "ns::f(int) [constprop]");
    EXPECT_EQ(readable_name("_ZN2ns1fEi.isra.0.cold", false), "ns::f(int) [isra] [cold]");
    EXPECT_EQ(readable_name("_ZN2ns1fEi._omp_fn.1", false), "ns::f(int) [omp region 1]");
    EXPECT_EQ(readable_name("main._omp_fn.0", false), "main [omp region 0]");
    EXPECT_EQ(readable_name("f.part.0.lto_priv.2", false), "f [part]");
    EXPECT_EQ(readable_name("nested.7", false), "nested.7");
    EXPECT_EQ(readable_name("read.line", false), "read.line");
    EXPECT_EQ(readable_name("_RNvC4main3run.llvm.12", false), "_RNvC4main3run.llvm.12");
    EXPECT_EQ(readable_name("a.b.c.3", false), "a.b.c.3");
    EXPECT_EQ(readable_name(".cold", false), ".cold");
    EXPECT_EQ(short_function_name("ns::f(int) [isra] [cold]"), "ns::f");
    EXPECT_EQ(short_function_name("void ns::f<int>(int) [omp region 1]"), "ns::f [omp region 1]");
    EXPECT_EQ(short_function_name("main [omp region 0]"), "main [omp region 0]");
    EXPECT_EQ(short_function_name("f [constprop]"), "f");
    EXPECT_EQ(short_function_name("operator new[](unsigned long)"), "operator new[]");
}

TEST(Inlined, TimeOffTheProcessorStaysInTheFunctionItself) {
    Profile p;
    p.modules.resize(2);
    p.modules[0].path = "/app";
    p.modules[1].path = "/lib/libc.so.6";
    p.sites.resize(2);
    p.sites[0].name = {"store(int)", "store.cpp", 20};
    p.sites[0].inlined = {{"copy()", "copy.hpp", 30}};
    p.sites[1].module = 1;
    p.sites[1].name = {"fsync", "", 0};
    p.paths = {
        {}, {0, NodeKind::Frame, 0, 0}, {1, NodeKind::OffCpu, 0, 0}, {1, NodeKind::Frame, 1, 0}, {3, NodeKind::OffCpu, 0, 0}, {0, NodeKind::OffCpu, 0, 0}};
    expand_inlined(p);
    ASSERT_EQ(p.paths.size(), 7u);
    const CallPath* placed = find(p, NodeKind::OffCpu, "(off CPU)");
    ASSERT_NE(placed, nullptr);
    EXPECT_EQ(label_of(p, p.paths[placed->parent]).name, "store(int)");
    EXPECT_EQ(p.paths[placed->parent].kind, NodeKind::Frame);
    const CallPath* known = find(p, NodeKind::OffCpu, "(off CPU: I/O)");
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(label_of(p, p.paths[known->parent]).name, "fsync");
    const SpotTable table = spot_table(p);
    const auto text = [&](const CallPath& path) { return spot_text(table.spots[table.of_path[static_cast<std::size_t>(&path - p.paths.data())]]); };
    EXPECT_EQ(text(*placed), "(off CPU) in store");
    EXPECT_EQ(text(*known), "(off CPU: I/O) in fsync");
    EXPECT_EQ(text(p.paths.back()), "(off CPU)");
}
