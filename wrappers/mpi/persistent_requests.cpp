#include "wrappers/mpi/persistent_requests.hpp"

#include "wrappers/mpi/request_table.hpp"

namespace libprofile::persistent_requests {

namespace {

struct Slot {
    std::atomic<std::uint64_t> key;
    Charge charge;
};
constexpr std::uint64_t being_filled = request_handle_mask + 1; // holds no handle

constinit RequestTable<Slot, 7> table; // few: programs make them once and start them often

} // namespace

bool insert(std::uint64_t handle, const Charge& charge) noexcept {
    table.take(handle); // of a request that went unseen
    Slot* slot = table.add(handle, being_filled);
    if (slot == nullptr) return false;
    slot->charge = charge;
    slot->key.store(handle, std::memory_order_release);
    return true;
}

const Charge* find(std::uint64_t handle) noexcept {
    const Slot* slot = table.find(handle);
    return slot == nullptr ? nullptr : &slot->charge;
}

void remove(std::uint64_t handle) noexcept { table.take(handle); }

} // namespace libprofile::persistent_requests
