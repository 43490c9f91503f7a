// Tells whether a pass of a loop makes the same calls several times. A loop that the compiler has unrolled looks so:
// each copy of its body is one pass of the program.
//
// Contract: plain data of one thread; async-signal-safe, allocates nothing.
#pragma once

#include "libprofile/callpath/call_tree.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace libprofile {

class CallPattern {
  public:
    static constexpr std::uint32_t most = 64; // call sites; a pass with more is not examined

    /// Adds a call of each pass, at or below the call site `site` of the loop's function.
    void add(const CallTree& tree, NodeId site, NodeId call) noexcept { add(site, tree[site].b, path_between(tree, site, call)); }
    /// Adds the call site at `address`. `what` stands for what is called there.
    void add(NodeId site, std::uint64_t address, std::uint64_t what) noexcept {
        Site* at = std::find_if(sites_, sites_ + count_, [&](const Site& each) { return each.address >= address; });
        if (at == sites_ + count_ || at->address != address) {
            is_full_ = is_full_ || count_ == most;
            if (is_full_) return;
            std::copy_backward(at, sites_ + count_, sites_ + count_ + 1);
            ++count_;
            *at = {site, address, 0};
        }
        at->calls += what;
    }
    bool has(NodeId site) const noexcept {
        return std::any_of(sites_, sites_ + count_, [site](const Site& each) { return each.site == site; });
    }

    /// Returns how many times the same calls are made, 1 if they are not repeated. The order does not matter: compilers move parts of the copies
    /// after the loop.
    std::uint32_t repetitions() const noexcept {
        std::uint32_t times = 0;
        for (std::uint32_t i = 0; i < count_; ++i) times = std::gcd(times, same_as(i));
        return is_full_ || times == 0 ? 1 : times;
    }
    /// Returns a site where the same is called as at `site`, preferably one after it in the code.
    NodeId another(NodeId site) const noexcept {
        std::uint32_t at = 0;
        while (at < count_ && sites_[at].site != site) ++at;
        for (std::uint32_t i = 1; i < count_; ++i)
            if (sites_[(at + i) % count_].calls == sites_[at % count_].calls) return sites_[(at + i) % count_].site;
        return site;
    }

  private:
    struct Site {
        NodeId site;
        std::uint64_t address;
        std::uint64_t calls; // stands for what is called there
    };

    std::uint32_t same_as(std::uint32_t one) const noexcept {
        return static_cast<std::uint32_t>(std::count_if(sites_, sites_ + count_, [&](const Site& each) { return each.calls == sites_[one].calls; }));
    }

    static std::uint64_t path_between(const CallTree& tree, NodeId site, NodeId call) noexcept {
        std::uint64_t hash = 1469598103934665603u;
        for (NodeId node = call; node != site && node != 0; node = tree[node].parent)
            for (const std::uint64_t part : {static_cast<std::uint64_t>(tree[node].kind), static_cast<std::uint64_t>(tree[node].a), tree[node].b})
                hash = (hash ^ part) * 1099511628211u;
        return hash;
    }

    Site sites_[most];
    std::uint32_t count_ = 0;
    bool is_full_ = false;
};

} // namespace libprofile
