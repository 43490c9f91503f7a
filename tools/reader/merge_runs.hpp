// Sorts what is made of a few sorted stretches, which std::sort() takes for its worst case.
// Contract: thread-safe (no state); allocates at most as much as the values take; throws std::bad_alloc only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace libprofile::tools {

/// Merges stretches that ascend, two by two (a natural merge sort: D. E. Knuth, "The Art of Computer Programming" 3 (1998), 5.2.4). Stable.
template <class Value, class Less> void merge_runs(std::vector<Value>& values, Less less) {
    std::vector<std::size_t> begins; // of stretches
    for (std::size_t i = 0; i < values.size(); ++i)
        if (i == 0 || less(values[i], values[i - 1])) begins.push_back(i);
    const auto at = [&](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
    while (begins.size() > 1) {
        std::size_t left = 0;
        for (std::size_t r = 0; r < begins.size(); r += 2) {
            const std::size_t end = r + 2 < begins.size() ? begins[r + 2] : values.size();
            if (r + 1 < begins.size()) std::inplace_merge(at(begins[r]), at(begins[r + 1]), at(end), less);
            begins[left++] = begins[r];
        }
        begins.resize(left);
    }
}

} // namespace libprofile::tools
