// See arch/processor.hpp. Source: Arm Architecture Reference Manual for A-profile architecture, chapters D13 (registers) and D11 (generic timer).
#pragma once

#include <cstddef>
#include <cstdint>
#include <elf.h>

namespace libprofile {

/// What the loader puts the address of a symbol into.
constexpr bool is_address_relocation(std::uint64_t type) { return type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64; }

/// The virtual count of the generic timer. Its rate is at least 1 MHz, so small intervals may be 0 ticks long.
inline std::uint64_t read_ticks() noexcept {
    std::uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
inline std::uint64_t ticks_per_second() noexcept {
    std::uint64_t rate;
    __asm__("mrs %0, cntfrq_el0" : "=r"(rate));
    return rate & 0xffffffffu;
}
/// By the architecture; firmware may have failed to set the rate.
inline bool ticks_are_steady() noexcept { return ticks_per_second() != 0; }

template <int distance> std::int32_t read_thread_word(std::ptrdiff_t offset) noexcept {
    return *reinterpret_cast<const volatile std::int32_t*>(static_cast<const char*>(__builtin_thread_pointer()) + offset + distance);
}

class FloatingPointState {
  public:
    void save() noexcept { __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control_), "=r"(status_)); }
    static void set_quiet() noexcept { __asm__ volatile("msr fpcr, xzr" ::: "memory"); }
    void restore() const noexcept { __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" ::"r"(control_), "r"(status_) : "memory"); }

  private:
    std::uint64_t control_ = 0;
    std::uint64_t status_ = 0;
};

} // namespace libprofile
