// The rows of counters.def as data.
// Contract: constant data; usable anywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <linux/perf_event.h>

namespace libprofile {

enum class OsCounter : std::uint8_t {
#define OS_COUNTER(id, ...) id,
#define SOFTWARE_EVENT(...)
#include "format/counters.def"
#undef OS_COUNTER
#undef SOFTWARE_EVENT
    Count
};
inline constexpr std::size_t os_counter_count = static_cast<std::size_t>(OsCounter::Count);

struct OsCounterRow {
    const char* name;
    const char* unit;
    const char* description;
};
inline constexpr OsCounterRow os_counter_table[] = {
#define OS_COUNTER(id, name, unit, text) {name, unit, text},
#define SOFTWARE_EVENT(...)
#include "format/counters.def"
#undef OS_COUNTER
#undef SOFTWARE_EVENT
};

struct SoftwareEventRow {
    std::uint32_t config; // of perf_event_open
    const char* name;
    const char* unit;
    bool in_user;
    const char* description;
};
inline constexpr SoftwareEventRow software_event_table[] = {
#define OS_COUNTER(...)
#define SOFTWARE_EVENT(config, name, unit, in_user, text) {PERF_COUNT_SW_##config, name, unit, in_user != 0, text},
#include "format/counters.def"
#undef OS_COUNTER
#undef SOFTWARE_EVENT
};
inline constexpr std::size_t software_event_count = sizeof software_event_table / sizeof *software_event_table;

} // namespace libprofile
