// Numbers the call-tree equivalence classes of a phase by their signatures.
// Contract: belongs to one thread; memory from the thread's arena; nothing throws. A look-up takes O(1), whatever the number of classes.
// Instead of the paper's O(log n) comparisons of whole call trees (Szebenyi, Wolf, Wylie, SC 2009, 4.4) it compares two 128-bit numbers.
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/clustering/signature.hpp"

#include <cstdint>

namespace libprofile {

class ClassTable {
  public:
    static constexpr std::uint32_t none = 0xffffffffu;

    std::uint32_t size() const { return used_; }
    void clear() noexcept {
        for (std::uint32_t i = 0; i < room_; ++i) slots_[i].number = 0;
        used_ = 0;
    }
    /// Returns the number of the class with this signature, from 0 in the order of appearance; `none` if it is new and memory is short.
    std::uint32_t find_or_add(const Signature& signature, Arena& arena) noexcept {
        if (2 * (used_ + 1) > room_ && !grow(arena)) return none;
        Slot& slot = find(signature);
        if (slot.number == 0) {
            slot.signature = signature;
            slot.number = ++used_;
        }
        return slot.number - 1;
    }

  private:
    struct Slot {
        Signature signature;
        std::uint32_t number; // + 1; 0 if free
    };
    Slot& find(const Signature& signature) noexcept {
        std::uint64_t at = signature.part[0];
        while (slots_[at & (room_ - 1)].number != 0 && !(slots_[at & (room_ - 1)].signature == signature)) ++at;
        return slots_[at & (room_ - 1)];
    }
    bool grow(Arena& arena) noexcept {
        const std::uint32_t room = room_ == 0 ? 16 : room_ * 2;
        Slot* slots = room == 0 ? nullptr : arena.array<Slot>(room);
        if (slots == nullptr) return used_ + 1 < room_; // look-ups end as long as one slot is free
        Slot* old = slots_;
        const std::uint32_t old_room = room_;
        slots_ = slots;
        room_ = room;
        for (std::uint32_t i = 0; i < old_room; ++i)
            if (old[i].number != 0) find(old[i].signature) = old[i];
        return true;
    }

    Slot* slots_ = nullptr;
    std::uint32_t room_ = 0; // a power of two, or 0
    std::uint32_t used_ = 0;
};

} // namespace libprofile
