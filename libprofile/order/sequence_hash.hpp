// A rolling hash of events in their order, 128 bits: two iterations with the same one did the same in the same order.
// Contract: pure values. Like path hashes, from which they are made, they are equal in every process and run of the same code.
//
// Path hashes are mixed already. So an event takes one multiplication for each half, and only the end of an iteration mixes again.
#pragma once

#include "libprofile/base/hashing.hpp"

#include <cstdint>

namespace libprofile {

struct SequenceHash {
    std::uint64_t part[2] = {1, 1};

    bool operator==(const SequenceHash&) const = default;

    /// An event on the call path with this hash has ended.
    void add(const std::uint64_t (&path)[2]) noexcept { add(path[0], path[1]); }
    /// An event that holds others has begun: with its end, this tells what lies inside of it.
    void add_begin(const std::uint64_t (&path)[2]) noexcept { add(~path[0], ~path[1]); }
    /// An iteration of the phase with the hash `phase` has ended, and its events have the hash `inner`, which is mixed().
    void add_inner(std::uint64_t phase, const SequenceHash& inner) noexcept { add(mix(inner.part[0] ^ phase), mix(inner.part[1] + phase)); }
    /// Of an iteration that is over.
    SequenceHash mixed() const noexcept { return {{mix(part[0]), mix(part[1])}}; }

  private:
    void add(std::uint64_t one, std::uint64_t other) noexcept {
        part[0] = part[0] * golden + one;
        part[1] = part[1] * 0xc2b2ae3d27d4eb4fu + other;
    }
};

} // namespace libprofile
