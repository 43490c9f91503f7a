// When iterations begin, for the page, on the axis of all ranks: of a bounded number of iterations of each phase.
// Contract: one thread; reads the profile, which must outlive it; allocates in proportion to the iterations; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/clock_axis.hpp"
#include "tools/view/sections.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace libprofile::tools {

class BeginEntries {
  public:
    static constexpr std::size_t most = 400'000; // begins in the page, of all phases

    /// @param mains a location for each rank; null without data
    BeginEntries(const std::vector<const Location*>& mains, const ClockAxis& axis);
    /// The profile has when the iterations of all ranks began; else those of some are laid end to end.
    bool are_known() const { return known_; }
    /// Where the last iteration of any rank ends, in ns.
    std::uint64_t end() const { return end_; }
    /// The begins of every so manyth iteration and the end of the last one, by rank. The first to ask may have half of what is left.
    nlohmann::ordered_json entry(std::uint32_t phase, Sections& sections);

  private:
    const std::vector<const Location*>& mains_;
    std::vector<std::vector<std::vector<std::uint64_t>>> begins_; // by rank and its phase; the end of the last iteration is the last
    std::size_t room_ = most;
    std::uint64_t end_ = 0;
    bool known_ = true;
    std::uint64_t unit_ = 1; // ns
};

} // namespace libprofile::tools
