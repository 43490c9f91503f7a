// The value of an enumeration by its name.
// Contract: pure.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace libprofile::tools {

/// @param names of the values 0, 1, ... of Choice
/// @return empty: there is no such name
template <class Choice, std::size_t count> std::optional<Choice> named_choice(const std::array<const char*, count>& names, std::string_view name) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) return std::nullopt;
    return static_cast<Choice>(at - names.begin());
}

} // namespace libprofile::tools
