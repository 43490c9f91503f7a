#include "libprofile/callpath/known_paths.hpp"

#include "libprofile/callpath/thread_block.hpp"

namespace libprofile {

/// The tree gets back what was learned about the duration of the path's calls.
void KnownPathTable::forget(KnownPath& known, CallTree& tree) noexcept {
    if (known.node != 0) tree[known.node].typical_ns = known.typical_ns;
}

void KnownPathTable::grow(std::uint32_t bits, CallTree& tree, Arena& arena) noexcept {
    Set* sets = arena.array<Set>(std::size_t{1} << bits);
    if (sets == nullptr) return;
    for (std::size_t i = 0; sets_ != nullptr && i >> (64 - shift_) == 0; ++i)
        for (KnownPath& known : sets_[i].path) forget(known, tree);
    sets_ = sets;
    shift_ = 64 - bits;
    replaced_ = 0;
}

KnownPath* KnownPathTable::replace(const void* return_address, std::uintptr_t frame, std::uint64_t python, CallTree& tree, Arena& arena) noexcept {
    if (sets_ == nullptr) grow(first_bits, tree, arena);
    if (sets_ == nullptr) return nullptr;
    const std::uint32_t bits = 64 - shift_;
    if (bits < most_bits && ++replaced_ == ways << bits) grow(bits + 2, tree, arena);
    Set& known = set(return_address, frame, python);
    known.last = (known.last + 1) % ways;
    forget(known.path[known.last], tree);
    return &known.path[known.last];
}

} // namespace libprofile
