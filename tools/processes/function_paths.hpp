// The functions of call paths: what is called by what, whatever the lines of the calls.
// Contract: constant after construction and then thread-safe; time and memory in proportion to the call paths; throws std::bad_alloc only. The profile
// outlives it.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

class FunctionPaths {
  public:
    explicit FunctionPaths(const Profile& profile);

    /// By call path of the profile: its functions. Call paths that differ in lines only have the same ones.
    std::uint32_t of(std::uint32_t path) const { return of_path_[path]; }
    /// By functions: those without the last one, which have a smaller number. 0: none.
    const std::vector<std::uint32_t>& parents() const { return parents_; }
    /// By functions: the last one. The same below all callers.
    const std::vector<std::uint64_t>& keys() const { return keys_; }
    /// "solve", "MPI_File_write".
    std::string name(std::uint32_t functions) const;

  private:
    const Profile& profile_;
    std::vector<std::uint32_t> of_path_, parents_, path_; // path_: one with these functions
    std::vector<std::uint64_t> keys_;
};

} // namespace libprofile::tools
