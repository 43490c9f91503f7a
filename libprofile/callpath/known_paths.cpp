#include "libprofile/callpath/known_paths.hpp"

#include "libprofile/callpath/thread_block.hpp"

namespace libprofile {

/// The tree gets back what was learned about the duration of the path's calls.
void KnownPathTable::forget(KnownPath& known, CallTree& tree) noexcept {
    if (known.node != 0) tree[known.node].typical_ns = known.typical_ns;
}

void KnownPathTable::grow(std::uint32_t to_bits, CallTree& tree, Arena& arena) noexcept {
    void* const pages = arena.allocate(sizeof(Header) + (sizeof(KnownPath) * ways << to_bits), alignof(KnownPath));
    if (pages == nullptr) return;
    if (!is_empty())
        for (std::uint32_t set = 0; set != 1u << bits(); ++set)
            for (std::uint32_t way = 0; way != ways; ++way) forget(path(set, way), tree);
    static_cast<Header*>(pages)->passed = reinterpret_cast<KnownPath*>(static_cast<Header*>(pages) + 1); // any
    sets_ = (reinterpret_cast<std::uintptr_t>(pages) + sizeof(Header)) | (64 - to_bits);
}

KnownPath* KnownPathTable::replace(const void* return_address, std::uintptr_t frame, std::uint64_t python, NodeId mark, CallTree& tree, Arena& arena) noexcept {
    if (is_empty()) grow(first_bits, tree, arena);
    if (is_empty()) return nullptr;
    if (bits() < most_bits && ++header().replaced == ways << bits()) grow(bits() + 2, tree, arena);
    const std::uint32_t set = set_of(return_address, frame, python, mark);
    const std::uint32_t way = (header().last[set] / ways + 1) % ways;
    KnownPath& known = path(set, way);
    forget(known, tree);
    known.successor = pair(way, way + 1);
    known.next = &known;
    pass_unexpected(set, way);
    return &known;
}

} // namespace libprofile
