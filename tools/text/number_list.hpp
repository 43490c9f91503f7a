// Lists and ranges as users write them: "0,3,8-15", "100:200" and "time,visits".
// Contract: thread-safe (no state); allocates its results; what is no list gives nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// "0,3,8-15": sorted, each number once. At most a million numbers.
std::optional<std::vector<std::uint32_t>> parse_number_list(std::string_view text);

/// "a:b", both included, a at least `least` and at most b; "a:", ":b" and "a" are parts. The end of "a:" is the largest number.
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_range(std::string_view text, std::uint64_t least);

/// "time,visits": the words between commas. Empty ones are left out.
std::vector<std::string> words_of_list(std::string_view text);

} // namespace libprofile::tools
