// The names of the regions of this process, by the id that call paths contain.
// Contract: any thread, with the in-tool flag set; append-only; a known name is found without a lock. It has memory of its own, which is part
// of the quota. Names are cut to most_bytes bytes. There are at most `most` of them: a name per iteration is a mistake that must not harm the
// job.
#pragma once

#include "format/regions.hpp"
#include "libprofile/base/memory.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

struct RegionName {
    std::uint64_t id = 0;
    std::uint32_t kind = 0; // RegionClass
    const char* text = "";
};

class RegionNames {
  public:
    static constexpr std::size_t most_bytes = 255;
    static constexpr std::uint32_t most = 4096;

    /// Stores a name. Returns its id, or 0 if there is no room or memory.
    std::uint64_t know(RegionClass kind, const char* name) noexcept;
    /// The id that know() gave or would give.
    static std::uint64_t id_of(const char* name) noexcept;

    bool knows(std::uint32_t kind, std::uint64_t id) const noexcept { return number_of(kind, id) != none; }
    /// The index of a known name in the list, which never changes; `none` if it is unknown.
    std::uint32_t number_of(std::uint32_t kind, std::uint64_t id) const noexcept;
    static constexpr std::uint32_t none = ~0u;
    bool is_full() const { return size() == most; }

    std::uint32_t size() const { return count_.load(std::memory_order_acquire); }
    const RegionName& operator[](std::size_t i) const { return names_[i]; }

  private:
    static constexpr std::uint32_t slots = 2 * most;
    bool add(std::uint32_t kind, std::uint64_t id, const char* name) noexcept;

    std::atomic<std::atomic<std::uint32_t>*> table_{nullptr}; // by class and id: number + 1
    std::atomic<std::uint32_t> count_{0};
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    Arena arena_;
    StableArray<RegionName, 6> names_;
};
extern RegionNames region_names;

} // namespace libprofile
