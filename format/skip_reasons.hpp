// The rows of skip_reasons.def as data.
// Contract: constant data; usable anywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libprofile {

enum class SkipReason : std::uint8_t {
#define SKIP_REASON(id, ...) id,
#include "format/skip_reasons.def"
#undef SKIP_REASON
    None
};
inline constexpr std::size_t skip_reason_count = static_cast<std::size_t>(SkipReason::None);

struct SkipReasonRow {
    const char* name;
    const char* text;
    const char* explanation;
};

inline constexpr SkipReasonRow skip_reasons[] = {
#define SKIP_REASON(id, name, text, explanation) {name, text, explanation},
#include "format/skip_reasons.def"
#undef SKIP_REASON
};

} // namespace libprofile
