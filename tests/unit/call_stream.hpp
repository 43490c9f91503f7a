// For tests: MPI calls of a made-up program, as a LoopSearch and an EventLog get them.
#pragma once

#include "libprofile/loops/loop_search.hpp"
#include "libprofile/loops/start_choice.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace libprofile {

constexpr std::uint32_t barrier = 0;
constexpr std::uint32_t send = 1;
constexpr std::uint32_t test = 2;

constexpr FunctionTraits traits{[](std::uint32_t function) noexcept { return function == barrier; },
                                [](std::uint32_t function) noexcept { return function == test; }, [](const Node&) noexcept { return std::uintptr_t{0}; },
                                [](std::uintptr_t, std::uintptr_t&, std::uintptr_t&) noexcept { return false; }, [](const Node&) noexcept { return false; }};

/// A program: call paths are lists of call sites, whose numbers are addresses in one module.
class Stream : public ::testing::Test {
  protected:
    Stream() {
        EXPECT_TRUE(tree.start());
        search.start(now);
        log.start(64 << 20, now);
    }
    ~Stream() override { log.release(); }

    /// A call on the path `sites`, `after` ns after the one before; `common` of its functions had not returned.
    void call(const std::vector<std::uint64_t>& sites, std::uint32_t function, std::uint32_t common, std::uint64_t after = 100000) {
        const NodeId node = node_of(sites, function);
        now += after;
        SitePath path;
        ASSERT_TRUE(path.find(tree, node));
        search.event(tree, path, common, now);
        log.add_event({node, common, now, {}});
    }
    NodeId path_of(const std::vector<std::uint64_t>& sites) {
        NodeId at = 0;
        for (const std::uint64_t site : sites) at = tree.child(at, NodeKind::Unknown, 0, site);
        return at;
    }
    NodeId node_of(const std::vector<std::uint64_t>& sites, std::uint32_t function) { return tree.child(path_of(sites), NodeKind::Mpi, function, 0); }
    Loop start_of(const LoopCandidate& candidate) {
        Loop loop;
        EXPECT_TRUE(choose_start(EventList(log), tree, candidate, traits, {}, loop));
        return loop;
    }

    Arena arena;
    CallTree tree{arena};
    LoopSearch search;
    EventLog log;
    std::uint64_t now = 1;
    LoopCandidate found[4];
};

} // namespace libprofile
