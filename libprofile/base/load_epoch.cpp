#include "libprofile/base/load_epoch.hpp"

namespace libprofile {

namespace {

constexpr std::uint32_t one_thread = unloading_bits & ~(unloading_bits << 1);

template <class Change> void change_epoch(Change change) noexcept {
    std::uint32_t epoch = load_epoch();
    while (!process_state.load_map_epoch.compare_exchange_weak(epoch, change(epoch), std::memory_order_acq_rel, std::memory_order_acquire)) {
    }
}

} // namespace

/// More threads than can be counted: nothing is kept any more.
void begin_unloading() noexcept {
    change_epoch([](std::uint32_t epoch) { return (epoch & unloading_bits) == unloading_bits ? epoch : epoch + one_thread; });
}

void end_unloading() noexcept {
    change_epoch([](std::uint32_t epoch) { return (epoch & unloading_bits) == unloading_bits ? epoch : epoch - one_thread; });
}

void next_load_epoch() noexcept {
    change_epoch([](std::uint32_t epoch) {
        const std::uint32_t next = number_of_epoch((epoch | unloading_bits) + 1); // carries into the bits above
        return (next != 0 ? next : 1) | (epoch & unloading_bits);
    });
}

} // namespace libprofile
