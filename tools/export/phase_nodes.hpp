// Where in the call tree a phase lies: the innermost function that everything recorded in the phase was called from, and something
// besides it. That is the function with the markers or the loop, unless nothing was recorded of it but the phase (then one that calls it).
// Contract: const access is thread-safe; keeps a reference to the profile; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

class PhaseNodes {
  public:
    explicit PhaseNodes(const Profile& profile);

    /// The call path of that function, the one nearest to the root; 0 if no function has all of the phase.
    /// Main threads decide: other threads have call paths of their own.
    std::uint32_t path_of(std::uint32_t phase) const { return path_[phase]; }

    /// A call path is that function, too: called from another line, or by itself.
    bool is_at(std::uint32_t phase, std::uint32_t path) const { return path_[phase] != 0 && function_of_path_[path] == function_of_path_[path_[phase]]; }

  private:
    std::vector<std::uint32_t> function_of_path_; // node of the tree of functions
    std::vector<std::uint32_t> path_;             // by phase
};

} // namespace libprofile::tools
