// Frames: unification of the call trees of several builds, functions, shapes, coefficients.
#include "tools/analysis/correlation.hpp"
#include "tools/frames/call_graph.hpp"
#include "tools/frames/hot_path.hpp"
#include "tools/frames/imbalance.hpp"
#include "tools/frames/matching_name.hpp"
#include "tools/frames/shape.hpp"
#include "tools/frames/unify.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>

namespace libprofile::tools {
namespace {

/// Call paths "main/f/g" with the value of each rank.
class FrameOfPaths {
  public:
    explicit FrameOfPaths(std::size_t ranks = 1) {
        for (std::uint32_t r = 0; r < ranks; ++r) frame_.places.push_back({r, 0, "host"});
        values_.resize(ranks);
    }
    FrameOfPaths& add(const std::string& path, const std::vector<double>& values, const std::string& file = "a.cpp", const std::string& module = "/bin/app") {
        std::uint32_t node = 0;
        for (std::size_t at = 0; at != std::string::npos;) {
            const std::size_t end = path.find('/', at);
            const std::string name = path.substr(at, end == std::string::npos ? end : end - at);
            at = end == std::string::npos ? end : end + 1;
            const auto known = nodes_.find(path.substr(0, end));
            node = known != nodes_.end() ? known->second : frame_.add_node(node, "function", name, file, 0, module);
            nodes_[path.substr(0, end)] = node;
        }
        for (std::size_t r = 0; r < values.size(); ++r) values_[r][node] += values[r];
        return *this;
    }
    Frame frame() {
        FrameColumn& column = frame_.columns.emplace_back();
        column.metric = "time";
        for (const auto& row : values_) {
            for (const auto& [node, value] : row) {
                column.node.push_back(node);
                column.value.push_back(value);
            }
            column.begin.push_back(column.node.size());
        }
        frame_.check();
        return frame_;
    }
    std::uint32_t node(const std::string& path) const { return nodes_.at(path); }

  private:
    Frame frame_;
    std::map<std::string, std::uint32_t> nodes_;
    std::vector<std::map<std::uint32_t, double>> values_;
};

std::string path_of(const Frame& frame, std::uint32_t node) {
    return node == 0 ? frame.name_of(0) : path_of(frame, frame.nodes.parent[node]) + "/" + frame.name_of(node);
}

/// By path, over all places.
std::map<std::string, double> sums_of(const Frame& frame) {
    std::map<std::string, double> result;
    const std::vector<double> sums = sums_over_places(frame, "time", false);
    for (std::uint32_t n = 0; n < sums.size(); ++n)
        if (sums[n] != 0) result[path_of(frame, n)] += sums[n];
    return result;
}

TEST(Unify, CallPathsAreOneNodeWhereverTheFilesLie) {
    FrameOfPaths a, b;
    a.add("main/f/g", {1}, "/home/a/a.cpp", "/opt/one/app").add("main/f", {2}, "/home/a/a.cpp", "/opt/one/app");
    b.add("main/f", {20}, "/home/b/a.cpp", "/opt/two/app").add("main/f/g", {10}, "/home/b/a.cpp", "/opt/two/app").add("main/h", {5});
    std::vector<Frame> frames = {a.frame(), b.frame()};
    const Unified unified = unify(frames);
    EXPECT_EQ(frames[0].nodes.size(), 4u);
    EXPECT_EQ(frames[0].nodes.parent, frames[1].nodes.parent);
    EXPECT_EQ(sums_of(frames[0]), (std::map<std::string, double>{{"main/f/g", 1}, {"main/f", 2}}));
    EXPECT_EQ(sums_of(frames[1]), (std::map<std::string, double>{{"main/f/g", 10}, {"main/f", 20}, {"main/h", 5}}));
    EXPECT_TRUE(unified.renamed.empty());
    for (const Frame& frame : frames) frame.check();
}

TEST(Unify, EqualNamesBelowDifferentCallersStayApart) {
    FrameOfPaths a, b;
    a.add("main/f/solve", {1}).add("main/g/solve", {2});
    b.add("main/g/solve", {20}).add("main/f/solve", {10});
    std::vector<Frame> frames = {a.frame(), b.frame()};
    unify(frames);
    EXPECT_EQ(sums_of(frames[1]), (std::map<std::string, double>{{"main/f/solve", 10}, {"main/g/solve", 20}}));
    EXPECT_EQ(frames[0].nodes.size(), 5u);
}

TEST(Unify, StaticFunctionsOfOneNameAreToldApartByTheirFiles) {
    FrameOfPaths a, b;
    Frame one = a.add("main", {0}).frame(), two = b.add("main", {0}).frame();
    for (Frame* frame : {&one, &two})
        for (const char* file : {frame == &one ? "x/first.c" : "y/second.c", frame == &one ? "x/second.c" : "y/first.c"}) {
            const std::uint32_t node = frame->add_node(0, "function", "init", file, 7, "/bin/app");
            FrameColumn& column = frame->columns[0];
            column.node.push_back(node);
            column.value.push_back(std::string(file).find("first") != std::string::npos ? 1 : 2);
            column.begin.back() = column.node.size();
        }
    std::vector<Frame> frames = {one, two};
    unify(frames);
    EXPECT_EQ(frames[0].nodes.size(), 3u);
    EXPECT_EQ(sums_over_places(frames[0], "time", false), sums_over_places(frames[1], "time", false));
}

TEST(Unify, CallersThatACompilerTookAwayArePassedOver) {
    FrameOfPaths whole, tail_call;
    whole.add("main/run/step/solve", {7}).add("main/run/step", {1}).add("main/run/output", {2});
    tail_call.add("main/run/solve", {70}).add("main/run/output", {20});
    for (const bool whole_first : {true, false}) {
        std::vector<Frame> frames = {whole.frame(), tail_call.frame()};
        if (!whole_first) std::swap(frames[0], frames[1]);
        unify(frames);
        const auto own = sums_over_places(frames[0], "time", false), other = sums_over_places(frames[1], "time", false);
        int both = 0;
        for (std::size_t n = 0; n < own.size(); ++n) both += own[n] != 0 && other[n] != 0;
        EXPECT_EQ(both, 2) << "solve and output" << whole_first;
        whole = FrameOfPaths();
        whole.add("main/run/step/solve", {7}).add("main/run/step", {1}).add("main/run/output", {2});
        tail_call = FrameOfPaths();
        tail_call.add("main/run/solve", {70}).add("main/run/output", {20});
    }
}

TEST(Unify, ARenamedFunctionIsKnownByWhatItCallsAndNamed) {
    FrameOfPaths a, b;
    a.add("main/old_step/f", {1}).add("main/old_step/g", {2}).add("main/old_step", {3}).add("main/other", {4});
    b.add("main/new_step/f", {10}).add("main/new_step/g", {20}).add("main/new_step", {30}).add("main/other", {40});
    std::vector<Frame> frames = {a.frame(), b.frame()};
    const Unified unified = unify(frames);
    ASSERT_EQ(unified.renamed.size(), 1u);
    EXPECT_EQ(unified.renamed[0].from + ">" + unified.renamed[0].to, "old_step>new_step");
    EXPECT_EQ(sums_of(frames[1]), (std::map<std::string, double>{{"main/old_step/f", 10}, {"main/old_step/g", 20}, {"main/old_step", 30}, {"main/other", 40}}));
}

TEST(Unify, ARenamedFunctionIsKnownThoughOneOfItsCallsBecameATailCall) {
    FrameOfPaths a, b;
    a.add("main/old_step/f", {1}).add("main/old_step/g", {2}).add("main/old_step", {3});
    b.add("main/new_step/f", {10}).add("main/g", {20}).add("main/new_step", {30});
    std::vector<Frame> frames = {a.frame(), b.frame()};
    ASSERT_EQ(unify(frames).renamed.size(), 1u);
    EXPECT_EQ(sums_of(frames[1]), (std::map<std::string, double>{{"main/old_step/f", 10}, {"main/old_step/g", 20}, {"main/old_step", 30}}));
}

TEST(Unify, AFunctionWhoseNameBothRunsHaveIsNotRenamed) {
    FrameOfPaths a, b; // leaves that samples hit in one run only
    a.add("main/f/at", {1}).add("main/g/at", {1}).add("main/g/get", {1});
    b.add("main/f/get", {1}).add("main/g/at", {1}).add("main/g/get", {1});
    std::vector<Frame> frames = {a.frame(), b.frame()};
    EXPECT_TRUE(unify(frames).renamed.empty());
    EXPECT_EQ(frames[0].nodes.size(), 7u);
}

TEST(Unify, OfTwoThatCouldBeTheRenamedOneNoneIs) {
    FrameOfPaths a, b;
    a.add("main/one", {1}, "a.cpp").add("main/two", {2}, "a.cpp");
    b.add("main/three", {1}, "a.cpp");
    std::vector<Frame> frames = {a.frame(), b.frame()};
    EXPECT_TRUE(unify(frames).renamed.empty());
    EXPECT_EQ(frames[0].nodes.size(), 4u);
}

TEST(Unify, NothingIsLostAndParentsStayBeforeTheirChildren) {
    std::mt19937 random(4);
    for (int round = 0; round < 300; ++round) {
        std::vector<Frame> frames;
        std::vector<double> totals;
        for (int run = 0; run < 4; ++run) {
            FrameOfPaths paths(2);
            paths.add("main", {1, 2});
            double total = 3;
            for (int i = 0; i < 30; ++i) {
                std::string path = "main";
                for (unsigned depth = random() % 6; depth-- > 0;) path += "/" + std::string(1, static_cast<char>('a' + random() % 4));
                const double value = random() % 100;
                paths.add(path, {value, 2 * value});
                total += 3 * value;
            }
            frames.push_back(paths.frame());
            totals.push_back(total);
        }
        const std::vector<Frame> before = frames;
        const Unified unified = unify(frames);
        for (std::size_t run = 0; run < frames.size(); ++run) {
            frames[run].check();
            const auto sums = sums_over_places(frames[run], "time", true);
            ASSERT_DOUBLE_EQ(sums[0], totals[run]);
            // A node goes to one of its own name, unless it was taken to be renamed; no two go to one.
            std::vector<std::uint32_t> seen = unified.node_of[run];
            std::sort(seen.begin(), seen.end());
            ASSERT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
        }
    }
}

TEST(MatchingName, CopiesThatCompilersMakeHaveTheNameOfTheFunction) {
    EXPECT_EQ(matching_name("solve.constprop.0"), "solve");
    EXPECT_EQ(matching_name("solve.isra.0.part.12.cold"), "solve");
    EXPECT_EQ(matching_name("a::solve(int) [clone .part.0]"), "a::solve(int)");
    EXPECT_EQ(matching_name("solve._omp_fn.0"), "solve._omp_fn.0");
    EXPECT_EQ(matching_name("solve [clone ._omp_fn.0]"), "solve [clone ._omp_fn.0]");
    EXPECT_EQ(matching_name(".part"), ".part");
    EXPECT_EQ(matching_name("a.party"), "a.party");
    EXPECT_EQ(matching_name(""), "");
}

TEST(CallGraph, RecursionCountsOnce) {
    FrameOfPaths paths;
    const Frame frame = paths.add("main", {1}).add("main/f", {2}).add("main/f/f", {4}).add("main/f/f/g/f", {8}).add("main/g", {16}).frame();
    const CallGraph graph = call_graph(frame, "time", GroupBy::Name);
    std::map<std::string, std::pair<double, double>> functions;
    std::map<std::string, double> edges;
    const auto name = [&](std::uint32_t group) { return frame.name_of(graph.groups.first[group]); };
    for (std::uint32_t g = 0; g < graph.exclusive.size(); ++g) functions[name(g)] = {graph.exclusive[g], graph.inclusive[g]};
    for (std::size_t e = 0; e < graph.edge.size(); ++e) edges[name(graph.caller[e]) + ">" + name(graph.callee[e])] = graph.edge[e];
    EXPECT_EQ(functions, (std::map<std::string, std::pair<double, double>>{{"main", {1, 31}}, {"f", {14, 14}}, {"g", {16, 24}}}));
    EXPECT_EQ(edges, (std::map<std::string, double>{{"main>f", 14}, {"f>f", 12}, {"f>g", 8}, {"g>f", 8}, {"main>g", 16}}));
}

TEST(HotPath, EndsWhereNoChildHasMoreThanTheThreshold) {
    FrameOfPaths paths;
    const Frame frame = paths.add("main/a/b", {60}).add("main/a/c", {30}).add("main/a/b/d", {10}).add("main/e", {50}).frame();
    const std::vector<std::uint32_t> expected = {paths.node("main/a"), paths.node("main/a/b")};
    EXPECT_EQ(hot_path(frame, "time", {}), expected);
    const std::vector<std::uint32_t> with_next = {paths.node("main/a"), paths.node("main/a/b"), paths.node("main/a/b/d")};
    EXPECT_EQ(hot_path(frame, "time", {{}, 0.5, true, true}), with_next);
    EXPECT_EQ(hot_path(frame, "time", {{}, 0.1, true, false}), with_next);
    EXPECT_THROW(hot_path(frame, "time", {99u, 0.5, true, false}), FrameError);
    EXPECT_THROW(hot_path(frame, "bytes", {}), FrameError);
}

TEST(Shape, WhatIsLeftOutHandsItsChildrenOn) {
    FrameOfPaths paths;
    const Frame frame = paths.add("main", {1}).add("main/a", {2}).add("main/a/b", {4}).add("main/a/b/c", {8}).frame();
    EXPECT_EQ(sums_of(filtered(frame, {false, false, true, true})), (std::map<std::string, double>{{"main", 1}, {"main/b", 4}, {"main/b/c", 8}}));
    EXPECT_EQ(sums_of(subtree(frame, 2)), (std::map<std::string, double>{{"b", 4}, {"b/c", 8}}));
    EXPECT_EQ(sums_of(flattened(frame, GroupBy::Name)), (std::map<std::string, double>{{"main", 1}, {"main/a", 2}, {"main/b", 4}, {"main/c", 8}}));
    EXPECT_THROW(filtered(frame, {true}), FrameError);
}

TEST(Correlation, KendallIsThatOfAllPairs) {
    std::mt19937 random(5);
    for (int round = 0; round < 500; ++round) {
        std::vector<double> x, y;
        for (unsigned n = random() % 40; n-- > 0;) {
            x.push_back(random() % 8);
            y.push_back(random() % 4 == 0 ? x.back() : random() % 8);
        }
        double same = 0, tied_x = 0, tied_y = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            for (std::size_t j = i + 1; j < x.size(); ++j) {
                const double product = (x[i] - x[j]) * (y[i] - y[j]);
                same += product > 0 ? 1 : product < 0 ? -1 : 0;
                tied_x += x[i] != x[j];
                tied_y += y[i] != y[j];
            }
        const double expected = same / std::sqrt(tied_x * tied_y), actual = kendall(x, y);
        if (std::isnan(expected))
            EXPECT_TRUE(std::isnan(actual));
        else
            EXPECT_NEAR(actual, expected, 1e-12);
    }
}

TEST(Unify, FramesShareOneTableOfNodes) {
    std::vector<Frame> frames = {FrameOfPaths(2).add("main/a", {1, 2}).frame(), FrameOfPaths(1).add("main/b", {3}).frame()};
    unify(frames);
    EXPECT_EQ(frames[0].nodes.name.get().data(), frames[1].nodes.name.get().data());
    frames[1].add_node(0, "function", "c"); // then its own
    EXPECT_EQ(frames[0].nodes.size() + 1, frames[1].nodes.size());
    EXPECT_EQ(frames[0].texts.size() + 1, frames[1].texts.size());
}

TEST(Frame, WhatDoesNotFitTogetherIsRefused) {
    const auto broken = [](auto change) {
        Frame frame = FrameOfPaths(2).add("main/a", {1, 2}).frame();
        change(frame);
        EXPECT_THROW(frame.check(), FrameError);
    };
    broken([](Frame& f) { f.nodes.parent.set(1, 1); });
    broken([](Frame& f) { f.nodes.name.set(1, 99); });
    broken([](Frame& f) { f.nodes.line.push_back(0); });
    broken([](Frame& f) { f.columns[0].node[0] = 2; });
    broken([](Frame& f) { f.columns[0].begin[1] = 99; });
    broken([](Frame& f) { f.columns[0].value[0] = std::nan(""); });
    broken([](Frame& f) { f.places.pop_back(); });
    broken([](Frame& f) { f.nodes = {}; });
}

} // namespace
} // namespace libprofile::tools
