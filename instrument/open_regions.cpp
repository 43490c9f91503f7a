#include "instrument/open_regions.hpp"

#include <algorithm>

namespace libprofile {

bool OpenRegions::grow(Arena& arena) noexcept {
    if (capacity_ == most) return false;
    const std::uint32_t wanted = capacity_ == 0 ? 32 : capacity_ * 2;
    auto* larger = arena.array<OpenRegion>(wanted);
    if (larger == nullptr) return false;
    std::copy(open_, open_ + depth_, larger);
    open_ = larger;
    capacity_ = wanted;
    return true;
}

} // namespace libprofile
