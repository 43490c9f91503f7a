// Structure signatures: which call paths an iteration visited, and how often, as 128-bit numbers.
// Contract: pure values, independent of order and incremental: the signature of a set of event paths is the sum of its members' mixed
// signatures. So comparing two iterations costs O(1). Only event paths take part (samples are random).
// Two different iterations share a 128-bit signature with a probability of about 2^-128 per pair. Signatures are comparable between
// processes, because paths hash by module build-id and offset.
// Source: call-tree equivalence, Szebenyi, Wolf, Wylie (SC 2009), 4.4.
#pragma once

#include "libprofile/base/hashing.hpp"
#include "libprofile/callpath/call_tree.hpp"

#include <cstdint>

namespace libprofile {

struct Signature {
    std::uint64_t part[2] = {0, 0};

    bool operator==(const Signature&) const = default;

    /// The part that is equal for all paths with the same number of visits.
    struct Visits {
        explicit constexpr Visits(std::uint64_t n) : number(n), part{mix(n + 0x632be59bd9b4e019u), mix(n ^ 0xd6e8feb86659fd93u)} {}
        std::uint64_t number;
        std::uint64_t part[2];
    };
    void add(const Node& node, const Visits& visits) { *this += of(node, visits); }
    static Signature of(const Node& node, const Visits& visits) { return {{mix(node.path_hash[0] + visits.part[0]), mix(node.path_hash[1] ^ visits.part[1])}}; }
    Signature& operator+=(const Signature& other) {
        part[0] += other.part[0];
        part[1] += other.part[1];
        return *this;
    }
    /// Adds an event path visited `visits` times; 1 for weak equivalence.
    void add(const Node& node, std::uint64_t visits) { add(node, Visits(visits)); }
};

struct StructureSignatures {
    Signature strong; // paths and visits
    Signature weak;   // paths
};

} // namespace libprofile
