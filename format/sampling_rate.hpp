// A sampling rate as users write it: auto; 0 or off; a rate (100, 100Hz, 2kHz); a period (1ms, 500us, 0.5ms, 2s).
// Contract: no allocation, no locale, no floating point; usable anywhere.
//
// Stored as the period in ns, 0 for off, automatic_period for auto: clocks need the period, and it represents both forms exactly.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <strings.h>

namespace libprofile {

inline constexpr std::int64_t ns_per_second = 1000000000;
inline constexpr std::int64_t automatic_period = -1;

/// Returns false if the text is none of these. The caller decides whether the period is allowed; one over an hour becomes an hour.
inline bool parse_sampling_period(const char* text, std::int64_t& period_ns) noexcept {
    if (strcasecmp(text, "auto") == 0) return period_ns = automatic_period, true;
    for (const char* off : {"off", "no", "false"})
        if (strcasecmp(text, off) == 0) return period_ns = 0, true;
    constexpr int most_digits = 12; // products below stay within 128 bits
    std::uint64_t digits = 0;
    std::uint64_t scale = 1; // the number is digits / scale
    int count = 0;
    bool fraction = false;
    const char* p = text;
    for (; (*p >= '0' && *p <= '9') || (*p == '.' && !fraction); ++p) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        if (++count > most_digits) return false;
        digits = digits * 10 + static_cast<std::uint64_t>(*p - '0');
        if (fraction) scale *= 10;
    }
    if (count == 0) return false;
    struct Unit {
        const char* name;
        std::uint64_t factor;
        bool is_rate;
    };
    constexpr Unit units[] = {{"", 1, true}, {"hz", 1, true}, {"khz", 1000, true}, {"us", 1000, false}, {"ms", 1000000, false}, {"s", 1000000000, false}};
    for (const Unit& unit : units) {
        if (strcasecmp(p, unit.name) != 0) continue;
        if (digits == 0) return period_ns = 0, true;
        const auto number = static_cast<unsigned __int128>(digits) * unit.factor;
        const unsigned __int128 above = unit.is_rate ? static_cast<unsigned __int128>(ns_per_second) * scale : number;
        const unsigned __int128 below = unit.is_rate ? number : scale;
        const unsigned __int128 rounded = (above + below / 2) / below;
        constexpr std::int64_t hour = 3600 * ns_per_second;
        period_ns = rounded > static_cast<unsigned __int128>(hour) ? hour : static_cast<std::int64_t>(rounded);
        if (period_ns == 0) period_ns = 1; // over 2 GHz does not mean off
        return true;
    }
    return false;
}

/// Returns true for a period that an option with these bounds allows; "off" and "auto" are always allowed.
inline bool is_sampling_period(std::int64_t period_ns, std::int64_t shortest_ns, std::int64_t longest_ns) noexcept {
    return period_ns == 0 || period_ns == automatic_period || (period_ns >= shortest_ns && period_ns <= longest_ns);
}

/// Samples per second, rounded, at least 1 unless sampling is off.
inline std::uint64_t samples_per_second(std::int64_t period_ns) noexcept {
    if (period_ns == 0) return 0;
    const std::int64_t rate = (ns_per_second + period_ns / 2) / period_ns;
    return rate < 1 ? 1 : static_cast<std::uint64_t>(rate);
}

} // namespace libprofile
