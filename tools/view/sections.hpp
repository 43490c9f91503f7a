// Columns on their way to the viewer: numbered, compressed, in base64.
// Contract: one thread; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/view/encoding.hpp"

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

namespace libprofile::tools {

class Sections {
  public:
    /// @param first number of the first column
    explicit Sections(std::size_t first = 0) : first_(first) {}

    /// @return the column's number
    std::size_t add(const NumberColumn& column) { return add_compressed(deflated(column.bytes())); }
    std::size_t add_compressed(const ByteList& bytes) {
        list_.push_back(base64(bytes));
        return first_ + list_.size() - 1;
    }

    /// In the page.
    std::size_t bytes() const {
        constexpr std::size_t around = 64; // the element of a column
        return std::accumulate(list_.begin(), list_.end(), around * list_.size(), [](std::size_t sum, const std::string& text) { return sum + text.size(); });
    }

    std::size_t first() const { return first_; }
    const std::vector<std::string>& list() const { return list_; }

  private:
    std::size_t first_;
    std::vector<std::string> list_;
};

} // namespace libprofile::tools
