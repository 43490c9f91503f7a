// A loop around a found one in the same function, which had too few passes when the inner one was chosen: steps of many stages.
//
// Contract: plain data of one thread; async-signal-safe, allocates nothing. Costs nothing while the found loop goes on: the call sites watched
// lie outside it.
#pragma once

#include "libprofile/loops/loop_search.hpp"

#include <cstdint>

namespace libprofile {

class LoopAround {
  public:
    /// `site` lies around the found loop in the code. `before`: its entries until now, if known.
    void watch(NodeId site, const Entries& before) noexcept {
        if (size_ == most) return;
        entries_[size_] = before;
        entries_[size_++].site = site;
    }
    bool is_empty() const { return size_ == 0; }
    bool is_full() const { return size_ == most; }
    bool has(NodeId site) const {
        for (std::uint32_t i = 0; i < size_; ++i)
            if (entries_[i].site == site) return true;
        return false;
    }
    /// Calls know(entries) for each, so that a longer count can replace it.
    template <class Know> void for_each(Know know) noexcept {
        for (std::uint32_t i = 0; i < size_; ++i) know(entries_[i]);
    }
    /// One of them is entered from the found loop. Returns its entries if they show a loop that has gone on for at least a quarter of the time since
    /// `since`, else nullptr.
    const Entries* enter(NodeId site, std::uint64_t at, std::uint64_t since) noexcept {
        for (std::uint32_t i = 0; i < size_; ++i) {
            Entries& its = entries_[i];
            if (its.site != site) continue;
            if (its.count == 0)
                its.begin(site, at, 0);
            else if (at > its.last_at) // else the log has counted it
                its.add(at, 0);
            return its.are_passes(LoopSearch::least_passes) && its.span() >= (at - since) / 4 ? &its : nullptr;
        }
        return nullptr;
    }
    template <class Visit> void for_each_site(Visit visit) const {
        for (std::uint32_t i = 0; i < size_; ++i) visit(entries_[i].site);
    }

  private:
    static constexpr std::uint32_t most = 4;
    Entries entries_[most];
    std::uint32_t size_ = 0;
};

} // namespace libprofile
