// The epoch of the loaded modules. What was learned about an address in one epoch holds until the next: something else may lie there then.
//
// Contract: lock-free, async-signal-safe, thread-safe. begin_unloading() is called before a thread may unload a module, end_unloading() when
// next_load_epoch() has been called for what was unloaded. Between them nothing that is learned may be kept, for the address may already belong to
// a module that another thread has loaded, and what was learned before is not believed. If nothing was unloaded, it is again afterwards.
#pragma once

#include "libprofile/base/process_state.hpp"

#include <cstdint>

namespace libprofile {

/// The bits of an epoch that count threads which are unloading. The others are its number: those below go into recipes.
constexpr std::uint32_t unloading_bits = 0xffu << 16;

/// Returns true if nobody is unloading.
constexpr bool is_settled(std::uint32_t epoch) noexcept { return (epoch & unloading_bits) == 0; }
/// What to keep with a fact that was learned in `epoch`, to be compared with the present one later: 0, which no epoch is, if it must not be believed.
constexpr std::uint32_t epoch_to_keep(std::uint32_t epoch) noexcept { return is_settled(epoch) ? epoch : 0; }
constexpr std::uint32_t number_of_epoch(std::uint32_t epoch) noexcept { return epoch & ~unloading_bits; }

inline std::uint32_t load_epoch() noexcept { return process_state.load_map_epoch.load(std::memory_order_acquire); }

void begin_unloading() noexcept;
void end_unloading() noexcept;
void next_load_epoch() noexcept;

} // namespace libprofile
