// A disjoint-set forest over the iterations: iteration -> cluster without relabelling on a merge.
// Contract: belongs to one thread; memory from the thread's arena, 4 bytes an element.
// Source: union of trees with path compression (here by halving): Cormen et al., "Disjoint-set forests".
#pragma once

#include "libprofile/session/memory.hpp"

#include <cstdint>

namespace libprofile {

class DisjointSets {
  public:
    static constexpr std::uint32_t none = 0x7fffffffu;

    std::size_t size() const { return links_.size(); }

    /// Room for one more element. False: no memory.
    bool reserve(Arena& arena) noexcept { return links_.size() < none && links_.reserve(1, arena); }
    /// Adds an element as the only member of set `label` and returns it; `none` without memory.
    std::uint32_t add(Arena& arena, std::uint32_t label) noexcept {
        if (links_.size() >= none) return none;
        std::uint32_t* link = links_.append(arena);
        if (link == nullptr) return none;
        *link = root_flag | label;
        return static_cast<std::uint32_t>(links_.size() - 1);
    }
    std::uint32_t root(std::uint32_t element) noexcept {
        while ((links_[element] & root_flag) == 0) {
            const std::uint32_t up = links_[element];
            if ((links_[up] & root_flag) == 0) links_[element] = links_[up];
            element = up;
        }
        return element;
    }
    /// The label of the set that `element` is in.
    std::uint32_t label(std::uint32_t element) noexcept { return links_[root(element)] & ~root_flag; }
    void relabel(std::uint32_t root_element, std::uint32_t label) noexcept { links_[root_element] = root_flag | label; }
    /// Puts the set of root `from` under root `into`.
    void join(std::uint32_t into, std::uint32_t from) noexcept { links_[from] = into; }

  private:
    static constexpr std::uint32_t root_flag = 0x80000000u;
    StableArray<std::uint32_t, 12> links_; // parent, or root_flag | label
};

} // namespace libprofile
