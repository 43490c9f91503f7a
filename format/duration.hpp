// A length of time as users write it: 0 or off; seconds (10, 10s); 500ms, 2min, 1h. Whole numbers.
// Contract: no allocation, no locale; usable anywhere. Stored in ns, 0 for off.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <strings.h>

namespace libprofile {

/// Returns false if the text is none of these, or more than a hundred years.
inline bool parse_duration(const char* text, std::int64_t& ns) noexcept {
    for (const char* off : {"off", "no", "false"})
        if (strcasecmp(text, off) == 0) return ns = 0, true;
    constexpr std::int64_t second = 1000000000;
    constexpr std::int64_t most = std::int64_t{3155760000} * second;
    std::int64_t number = 0;
    const char* p = text;
    for (; *p >= '0' && *p <= '9'; ++p) {
        if (number > most / 10) return false;
        number = number * 10 + (*p - '0');
    }
    if (p == text) return false;
    struct Unit {
        const char* name;
        std::int64_t ns;
    };
    for (const Unit& unit : {Unit{"", second}, Unit{"s", second}, Unit{"ms", second / 1000}, Unit{"min", 60 * second}, Unit{"h", 3600 * second}})
        if (strcasecmp(p, unit.name) == 0) return number <= most / unit.ns && (ns = number * unit.ns, true);
    return false;
}

} // namespace libprofile
