// A table of text with right-aligned columns as wide as they need to be.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/text/layout.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

class Table {
  public:
    /// One heading per column; a line break in it makes a second line of headings.
    explicit Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

    /// As many cells as headings.
    void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// The lines, each ended.
    std::string text(const TextStyle& style) const;

  private:
    std::vector<std::string> headings_;
    std::vector<std::vector<std::string>> rows_;
};

} // namespace libprofile::tools
