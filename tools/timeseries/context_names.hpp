// What contexts are called.
// Contract: one thread; allocates its results; throws std::bad_alloc only. All arguments outlive it.
#pragma once

#include "tools/timeseries/binary_loops.hpp"
#include "tools/timeseries/contexts.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

class ContextNames {
  public:
    ContextNames(const Profile& profile, const Contexts& contexts, const BinaryLoops& loops);

    /// The function that is called, or "loop at file:line", or "loop in function at address" where no line is known. One place may call several
    /// functions; then the one that leads to the context `inner`.
    std::string name(ContextId id, ContextId inner = 0) const;
    /// From the outermost function of the call path inwards. What comes before main is left out.
    std::vector<std::string> path(ContextId id) const;
    /// The function that a loop lies in, and its line, 0 if that is not known.
    SiteName loop(ContextId id) const;

  private:
    std::string function_of(std::uint32_t path) const;
    std::string called_by(ContextId id, ContextId inner) const;

    const Profile* profile_;
    const Contexts* contexts_;
    const BinaryLoops* loops_;
    std::vector<std::uint32_t> callee_;  // by call path: one in the function that it calls, 0 if there is none
    std::vector<bool> has_many_callees_; // by call path
};

} // namespace libprofile::tools
