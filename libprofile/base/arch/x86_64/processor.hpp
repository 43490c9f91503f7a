// See arch/processor.hpp.
#pragma once

#include <cpuid.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>
#include <x86intrin.h>

namespace libprofile {

/// What the loader puts the address of a symbol into.
constexpr bool is_address_relocation(std::uint64_t type) { return type == R_X86_64_GLOB_DAT || type == R_X86_64_64; }

inline std::uint64_t read_ticks() noexcept { return __rdtsc(); }

/// The kernel stops using the TSC when it finds that processors disagree about it. Then it is of no use to us either.
inline bool ticks_are_steady() noexcept {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(0x80000007u, &a, &b, &c, &d) == 0 || (d & (1u << 8)) == 0) return false; // not invariant
    const int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    char name[32] = {};
    const ssize_t size = read(file, name, sizeof name - 1);
    close(file);
    return size >= 3 && (std::strncmp(name, "tsc", 3) == 0 || std::strncmp(name, "kvm-clock", 9) == 0 || std::strncmp(name, "hyperv", 6) == 0);
}
inline std::uint64_t ticks_per_second() noexcept { return 0; }

/// The thread pointer itself is in another line of memory.
template <int distance> std::int32_t read_thread_word(std::ptrdiff_t offset) noexcept {
    std::int32_t word;
    __asm__ volatile("movl %%fs:%c2(%1), %0" : "=r"(word) : "r"(offset), "i"(distance));
    return word;
}

/// SSE arithmetic, the default on x86-64.
class FloatingPointState {
  public:
    void save() noexcept { saved_ = _mm_getcsr(); }
    static void set_quiet() noexcept { _mm_setcsr(0x1f80); }
    void restore() const noexcept { _mm_setcsr(saved_); }

  private:
    unsigned saved_ = 0;
};

} // namespace libprofile
