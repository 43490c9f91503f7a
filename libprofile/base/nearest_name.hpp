// Finds the existing name that a misspelt one most likely means.
// Contract: pure except for its own state; allocates nothing. Runs once for each wrong name when settings are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace libprofile {

/// Levenshtein distance of two short names; names over 63 characters count as infinitely far.
inline unsigned edit_distance(const char* a, const char* b) noexcept {
    constexpr std::size_t longest = 63;
    const std::size_t n = std::strlen(a);
    const std::size_t m = std::strlen(b);
    if (n > longest || m > longest) return 1000;
    unsigned row[longest + 1];
    for (std::size_t j = 0; j <= m; ++j) row[j] = static_cast<unsigned>(j);
    for (std::size_t i = 1; i <= n; ++i) {
        unsigned diagonal = row[0];
        row[0] = static_cast<unsigned>(i);
        for (std::size_t j = 1; j <= m; ++j) {
            const unsigned above = row[j];
            row[j] = std::min({diagonal + (a[i - 1] == b[j - 1] ? 0 : 1), above + 1, row[j - 1] + 1});
            diagonal = above;
        }
    }
    return row[m];
}

class NearestName {
  public:
    /// `name` is the misspelt name; it must outlive this object.
    explicit NearestName(const char* name) noexcept : name_(name) {}

    /// Looks at an existing name. Returns true if it is the nearest so far and near enough (up to four edits, and half of the name).
    bool look_at(const char* known) noexcept {
        const unsigned distance = edit_distance(name_, known);
        if (distance >= distance_ || distance > 4 || distance * 2 > std::strlen(name_) + 2) return false;
        distance_ = distance;
        return true;
    }

  private:
    const char* name_;
    unsigned distance_ = 1000;
};

} // namespace libprofile
