// A graph of pieces and junctions, and its longest paths.
// Contract: one thread; linear; allocates in proportion to nodes and edges; throws std::bad_alloc only. Cycles are allowed: what is in one, or comes after it,
// is not reached.
#pragma once

#include <cstdint>
#include <vector>

namespace libprofile::tools {

class OrderGraph {
  public:
    static constexpr std::uint32_t none = UINT32_MAX;

    struct Node {
        std::uint64_t weight = 0;
        std::uint64_t end_ns = 0; // of a piece
        bool is_junction = false; // it is over when all before it are
        bool enters = false;      // the first piece of a task: a level deeper than what is before it
        // Results.
        bool is_reached = false;
        std::uint32_t level = 0;     // tasks entered on the longest path to it, itself included
        std::uint64_t longest = 0;   // the heaviest path to it, itself included
        std::uint32_t before = none; // on that path
        std::uint64_t ready_ns = 0;  // when the last one before it was over
    };

    std::uint32_t add(const Node& node) {
        nodes_.push_back(node);
        return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    void edge(std::uint32_t from, std::uint32_t to) { edges_.push_back({from, to}); }

    /// Fills the results, once.
    void solve();

    const Node& operator[](std::uint32_t node) const { return nodes_[node]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }

  private:
    struct Edge {
        std::uint32_t from, to;
    };
    void pass(const Node& from, std::uint32_t at, Node& to) const;

    std::vector<Node> nodes_;
    std::vector<Edge> edges_;
};

} // namespace libprofile::tools
