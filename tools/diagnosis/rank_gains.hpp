// By how much a run is shorter if ranks have less to do, over the whole run.
// Contract: const access is thread-safe; allocates; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace libprofile::tools {

/// What each rank would gain, and how long it is without waiting for others.
class RankGains {
  public:
    explicit RankGains(const Profile& profile);

    double mpi(std::uint32_t rank) const { return mpi_.contains(rank) ? mpi_.at(rank) : 0; }
    /// The rank with most to do, and by how much the run is shorter if each rank gains this: the others wait for it anyway.
    std::pair<std::uint32_t, double> of_run(const std::map<std::uint32_t, double>& gains) const;

  private:
    std::map<std::uint32_t, double> local_, mpi_; // ns
};

} // namespace libprofile::tools
