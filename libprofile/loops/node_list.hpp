// A few nodes of a call tree, each once, in order of arrival.
// Contract: plain data of one thread; async-signal-safe. Adding to a full list does nothing.
#pragma once

#include "libprofile/callpath/call_tree.hpp"

#include <cstdint>

namespace libprofile {

template <std::uint32_t most_nodes> class NodeList {
  public:
    static constexpr std::uint32_t most = most_nodes;

    void add(NodeId node) {
        if (!is_full() && !has(node)) nodes_[size_++] = node;
    }
    bool has(NodeId node) const {
        for (const NodeId known : *this)
            if (known == node) return true;
        return false;
    }
    bool is_full() const { return size_ == most_nodes; }
    std::uint32_t size() const { return size_; }
    NodeId operator[](std::uint32_t i) const { return nodes_[i]; }
    const NodeId* begin() const { return nodes_; }
    const NodeId* end() const { return nodes_ + size_; }

  private:
    NodeId nodes_[most_nodes] = {};
    std::uint32_t size_ = 0;
};

} // namespace libprofile
