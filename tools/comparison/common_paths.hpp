// The call paths of several runs as one list: those with the same names are one, whichever build or place of a function made them.
// Contract: constant after construction and then thread-safe; time and memory in proportion to the call paths; throws std::bad_alloc only.
//
// Unlike unify() (tools/frames/unify.hpp), this takes no function for another one: who looks for renamed and inlined functions must see them. A source file
// counts where functions of one run have the same name, as in two builds files lie elsewhere.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace libprofile::tools {

class CommonPaths {
  public:
    /// @param profiles with names
    explicit CommonPaths(std::span<const Profile* const> profiles);

    /// By call path of a profile, and behind them by phase.
    const std::vector<std::uint32_t>& of(std::size_t profile) const { return common_[profile]; }
    /// Path 0 is the root; parents have smaller numbers than children.
    std::span<const std::uint32_t> parents() const { return parent_; }
    std::span<const std::uint64_t> keys() const { return key_; }
    /// "MPI_Send", "phase solve".
    const std::string& name(std::uint32_t path) const { return name_[path]; }

  private:
    std::vector<std::uint32_t> parent_;
    std::vector<std::uint64_t> key_;
    std::vector<std::string> name_;
    std::vector<std::vector<std::uint32_t>> common_;
};

} // namespace libprofile::tools
