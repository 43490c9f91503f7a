// The rows of options.def as data.
// Contract: constant data; usable anywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

enum class OptionType : std::uint8_t { Integer, Size, Count, Share, Flag, Choice, Text, Rate, Duration, ChoiceOrText };

enum class Option : std::uint8_t {
#define CHOICES(id, list)
#define OPTION(id, ...) id,
#include "format/options.def"
#undef OPTION
#undef CHOICES
    Count
};
inline constexpr std::size_t option_count = static_cast<std::size_t>(Option::Count);

// An enumeration for each option that is a choice: EquivalenceChoice, IterationChoice ...
#define CHOICES(id, list) enum class id##Choice : std::uint8_t{list};
#define CHOICE(id, word) id,
#define OTHER(id) id
#define OPTION(...)
#include "format/options.def"
#undef CHOICES
#undef CHOICE
#undef OTHER

/// The option whose choices an enumeration has.
template <class Choice> inline constexpr Option option_of = Option::Count;
#define CHOICES(id, list) template <> inline constexpr Option option_of<id##Choice> = Option::id;
#include "format/options.def"
#undef CHOICES
#undef OPTION

inline constexpr bool keeps_samples(TraceChoice trace) { return trace == TraceChoice::On || trace == TraceChoice::Samples || trace == TraceChoice::All; }
inline constexpr bool keeps_events(TraceChoice trace) { return trace == TraceChoice::Events || trace == TraceChoice::All; }

struct OptionRow {
    const char* name; // without the prefix
    OptionType type;
    const char* default_value;
    std::int64_t minimum;
    std::int64_t maximum;
    const char* choices; // "a|b|c"
    const char* description;
};

#define CHOICES(id, list) inline constexpr char id##_words[] = list;
#define CHOICE(id, word) "|" word
#define OTHER(id)
#define OPTION(...)
#include "format/options.def"
#undef CHOICES
#undef CHOICE
#undef OTHER
#undef OPTION

inline constexpr OptionRow option_table[] = {
#define CHOICES(id, list)
#define WORDS(id) (id##_words + 1)
#define OPTION(id, name, type, default_value, minimum, maximum, choices, text) {name, OptionType::type, default_value, minimum, maximum, choices, text},
#include "format/options.def"
#undef OPTION
#undef WORDS
#undef CHOICES
};

inline constexpr const char* option_prefix = "LIBPROFILE_";

/// Names with our prefix that are not options but are no mistake either: set by the launcher, by module files, by CMake.
inline constexpr const char* foreign_names[] = {"RUN_PID", "MACHINE_FILE", "CC", "CXX", "FC", "ROOT", "DIR", "HOME", "VERSION", "TEST_LOADER_COPY"};

} // namespace libprofile
