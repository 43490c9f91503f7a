// When the next snapshot of the live file is due (output/checkpoint.hpp).
// Contract: async-signal-safe. Only the main thread's data are written, so only that thread is asked.
#pragma once

#include "libprofile/thread/thread.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

inline constexpr std::uint64_t checkpoint_never = ~std::uint64_t{0};

/// By the session's clock, unless something is written before; 0 until snapshots begin.
inline constinit std::atomic<std::uint64_t> checkpoint_due_at{0};

inline bool is_checkpoint_due(const Thread& thread, std::uint64_t now) noexcept {
    return thread.index == 0 && now >= checkpoint_due_at.load(std::memory_order_relaxed);
}

/// Asks for a snapshot soon. Called by the main thread.
inline void want_checkpoint() noexcept {
    const std::uint64_t due = checkpoint_due_at.load(std::memory_order_relaxed);
    if (due != 0 && due != checkpoint_never) checkpoint_due_at.store(1, std::memory_order_relaxed);
}

} // namespace libprofile
