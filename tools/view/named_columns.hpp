// Columns of numbers that a page has by the name of a list and of the column in it.
// Contract: one thread; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/view/sections.hpp"

#include <cstddef>
#include <deque>
#include <nlohmann/json.hpp>
#include <vector>

namespace libprofile::tools {

class NamedColumns {
  public:
    /// The names stay as they are: literals. The reference stays valid.
    NumberColumn& column(const char* list, const char* name);
    /// Before what follows: no column changes any more.
    void compress();

    /// In the page.
    std::size_t bytes() const;
    /// By name of the list, then of its column: {"parts": {"gaps": 12, ...}, ...}.
    nlohmann::ordered_json add_to(Sections& sections) const;

  private:
    struct Named {
        const char *list, *name;
        NumberColumn numbers;
    };
    std::deque<Named> columns_;
    std::vector<ByteList> compressed_;
};

} // namespace libprofile::tools
