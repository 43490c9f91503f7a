// Numbers as ranges, for the page.
// Contract: thread-safe (no state); allocates its result; throws std::bad_alloc only.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace libprofile::tools {

/// From (included) to (excluded), one range after the other in a flat list.
/// @param numbers ascending
template <class Number> nlohmann::ordered_json flat_ranges(const std::vector<Number>& numbers) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        list.push_back(numbers[i]);
        while (i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1) ++i;
        list.push_back(std::uint64_t{numbers[i]} + 1);
    }
    return list;
}

} // namespace libprofile::tools
