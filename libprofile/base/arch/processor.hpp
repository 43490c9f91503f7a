// What the base services ask of the processor: its counter of time, the thread's own memory, relocations, and the state of floating-point arithmetic.
// One implementation per architecture (arch/ARCHITECTURE/processor.hpp).
//
// Contract: all is async-signal-safe; ticks_are_steady() may read a file.
//   read_ticks()           the counter; 3 to 20 ns
//   ticks_are_steady()     it runs at one rate and shows the same on all processors
//   ticks_per_second()     its rate; 0 if it must be measured
//   read_thread_word<d>(n) the 32 bits at the thread pointer plus n plus d
//   is_address_relocation(type)  the loader writes the address of a symbol there
//   FloatingPointState     save(), set to round to nearest without traps, and restore()
#pragma once

#if defined(__x86_64__)
#include "libprofile/base/arch/x86_64/processor.hpp"
#elif defined(__aarch64__)
#include "libprofile/base/arch/aarch64/processor.hpp"
#else
#error "libprofile knows x86-64 and AArch64 only (docs/contributing.md: add an architecture)"
#endif
