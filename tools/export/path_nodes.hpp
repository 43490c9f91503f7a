// The nodes that call paths become in a tree of functions: those of one function below one caller are one node.
// Contract: not thread-safe; keeps a reference to the profile; allocates; throws std::bad_alloc.
#pragma once

#include "tools/export/call_table.hpp"
#include "tools/text/text_pool.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace libprofile::tools {

class PathNodes {
  public:
    struct Node {
        std::uint32_t parent = 0;
        TableNode kind = TableNode::Function;
        std::uint32_t name = 0, file = 0, module = 0; // texts
        std::uint32_t line = 0;                       // of the call path with most time, of equal ones of the first
    };
    static constexpr std::uint32_t no_path = std::numeric_limits<std::uint32_t>::max();

    /// Puts the program in: node 0.
    /// @param weight by call path: time of it and all below
    PathNodes(const Profile& profile, bool by_line, bool short_names, std::vector<std::uint64_t> weight);

    /// The node of a call path below that of its caller.
    std::uint32_t of_path(std::uint32_t parent, std::uint32_t path);
    /// A node that stands for no call path.
    std::uint32_t other(std::uint32_t parent, TableNode kind, const std::string& name);

    std::size_t size() const { return nodes_.size(); }
    const Node& operator[](std::uint32_t node) const { return nodes_[node]; }
    const TextPool& texts() const { return texts_; }

    /// By node: its number when nodes are sorted by their first call path, so that numbers do not depend on which rank came first.
    std::vector<std::uint32_t> sorted_numbers() const;

  private:
    using Key = std::array<std::uint32_t, 6>;
    struct Hash {
        std::size_t operator()(const Key& key) const {
            std::uint64_t hash = 0;
            for (const std::uint32_t part : key) hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
            return hash ^ (hash >> 32);
        }
    };
    std::uint32_t child(const Node& node, std::uint64_t weight, std::uint32_t path);
    Node label(const CallPath& path);

    const Profile& profile_;
    bool by_line_;
    bool short_names_;
    std::vector<std::uint64_t> weight_; // by path
    TextPool texts_;
    std::vector<Node> nodes_;
    std::vector<std::uint64_t> line_weight_;            // by node
    std::vector<std::uint32_t> line_path_, first_path_; // by node
    std::unordered_map<Key, std::uint32_t, Hash> numbers_;
    std::unordered_map<std::uint64_t, Node> labels_; // by kind and target, of machine code
};

/// By call path: time of it and all below, at all locations.
std::vector<std::uint64_t> path_weights(const Profile& profile);

/// Makes times by call path those of it and all below.
void add_callees(const Profile& profile, std::vector<std::uint64_t>& times);

} // namespace libprofile::tools
