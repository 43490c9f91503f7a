// Where a range coder's bytes go: into a chain, or, for a look at what the coder still holds back, to a few bytes of memory.
// Contract: belongs to one thread; nothing throws; memory from the pool.
#pragma once

#include "libprofile/clustering/byte_chain.hpp"

#include <cstddef>

namespace libprofile {

struct ChainSink {
    static constexpr std::size_t most_held_back = 64;

    ByteChain* chain = nullptr;
    Pool* pool = nullptr;
    unsigned char* tail = nullptr; // room for most_held_back; nullptr: bytes go into the chain
    std::size_t size = 0;          // of the tail

    void put(unsigned char byte) noexcept {
        if (tail == nullptr) return chain->put(byte, *pool);
        if (size < most_held_back) tail[size++] = byte;
    }
};

} // namespace libprofile
