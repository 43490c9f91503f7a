// The rows of path_counts.def as data.
// Contract: constant data; usable anywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

enum class PathCount : std::uint8_t {
#define PATH_COUNT(id, ...) id,
#include "format/path_counts.def"
#undef PATH_COUNT
    Count
};
inline constexpr std::size_t path_count_count = static_cast<std::size_t>(PathCount::Count);

struct PathCountRow {
    const char* name;
    const char* description;
};
inline constexpr PathCountRow path_count_table[] = {
#define PATH_COUNT(id, name, text) {name, text},
#include "format/path_counts.def"
#undef PATH_COUNT
};

} // namespace libprofile
