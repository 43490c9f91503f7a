// The rows of options.def as data.
// Contract: constant data; usable anywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

enum class OptionType : std::uint8_t { Integer, Size, Count, Share, Flag, Choice, Text, Rate, Duration, ChoiceOrPlace };

enum class Option : std::uint8_t {
#define OPTION(id, ...) id,
#include "format/options.def"
#undef OPTION
    Count
};
inline constexpr std::size_t option_count = static_cast<std::size_t>(Option::Count);

struct OptionRow {
    const char* name; // without the prefix
    OptionType type;
    const char* default_value;
    std::int64_t minimum;
    std::int64_t maximum;
    const char* choices; // "a|b|c"
    const char* description;
};

inline constexpr OptionRow option_table[] = {
#define OPTION(id, name, type, default_value, minimum, maximum, choices, text) {name, OptionType::type, default_value, minimum, maximum, choices, text},
#include "format/options.def"
#undef OPTION
};

inline constexpr const char* option_prefix = "LIBPROFILE_";

/// Names with our prefix that are not options but are no mistake either: set by the launcher, by module files, by CMake.
inline constexpr const char* foreign_names[] = {"RUN_PID", "CC", "CXX", "FC", "ROOT", "DIR", "HOME", "VERSION"};

} // namespace libprofile
