// Functions in which a thread usually waits, by name: input and output, locks, sleep. The one table of them.
// Contract: thread-safe (no state); allocates nothing; throws nothing.
#pragma once

#include <string_view>

namespace libprofile::tools {

/// Returns "I/O", "lock", "sleep" or "wait" (for data or another process), or "" for all others. `function`: a short name (short_function_name());
/// `module`: the file name of its library. The program may have a read() of its own.
std::string_view waiting_kind(std::string_view function, std::string_view module) noexcept;

} // namespace libprofile::tools
