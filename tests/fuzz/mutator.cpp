// Mutations of libFuzzer, with checksums that are right afterwards in most of them: else it would never get past these.
#include "tests/fuzz/repair.hpp"

#include <cstdint>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    size = LLVMFuzzerMutate(data, size, most);
    if (seed % 8 != 0) libprofile::test::repair(data, size);
    return size;
}
