// What is wrong with a file, one clause each. A hostile file can be wrong in every block: a reader wants to know that, not where
// each time, so the first clauses are kept and the others counted.
// Contract: not thread-safe. Memory is bounded by `shown` clauses.
#pragma once

#include <fmt/format.h>
#include <string>
#include <vector>

namespace libprofile::tools {

class Damages {
  public:
    Damages() = default;
    explicit Damages(std::size_t shown) : shown_(shown) {}

    /// @param describe returns the clause; not called for one that will not be shown
    template <class Describe> void note(Describe describe) {
        if (told_.size() < shown_)
            told_.push_back(describe());
        else
            ++more_;
    }

    bool empty() const { return told_.empty(); }
    void clear() {
        told_.clear();
        more_ = 0;
    }
    /// The clauses, and how many there are more.
    std::vector<std::string> told() const {
        std::vector<std::string> all = told_;
        if (more_ != 0) all.push_back(fmt::format("and {} more of this kind", more_));
        return all;
    }

  private:
    std::size_t shown_ = 20;
    std::vector<std::string> told_;
    std::size_t more_ = 0;
};

} // namespace libprofile::tools
