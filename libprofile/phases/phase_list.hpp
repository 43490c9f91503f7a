// The phases of one thread, by kind and name.
// Contract: belongs to one thread's phase stack, used with the in-tool flag set; memory from the thread's arena; a Phase never moves.
#pragma once

#include "libprofile/phases/phase.hpp"

#include <cstdint>

namespace libprofile {

class PhaseList {
  public:
    static constexpr std::size_t max_phases = 1000; // a name per iteration is a mistake that must not cost the job
    static constexpr std::size_t max_name = 255;

    PhaseList(CallTree& tree, Arena& arena) : tree_(&tree), arena_(&arena) {}

    std::size_t size() const { return phases_.size(); }
    Phase& operator[](std::size_t i) { return phases_[i]; }
    /// Returns nullptr if there is none. The first phase, that outside all others, is not found. The one found last costs one comparison: a
    /// loop asks for the same name again and again, and hashing it took longer than everything else here.
    Phase* find(PhaseKind kind, const char* name) noexcept;
    /// Returns nullptr if memory is short or the limit is reached: then the phase does not exist, and its time stays with the one around it.
    Phase* create(PhaseKind kind, const char* name) noexcept;
    /// How many phases could not be created.
    std::uint64_t refused() const { return refused_; }

  private:
    Phase* refuse() noexcept { return ++refused_, nullptr; }

    CallTree* tree_;
    Arena* arena_;
    StableArray<Phase, 3> phases_;
    Phase* last_ = nullptr; // found
    std::uint64_t refused_ = 0;
};

} // namespace libprofile
