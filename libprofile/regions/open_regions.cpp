#include "libprofile/regions/open_regions.hpp"

#include <algorithm>

namespace libprofile {

bool OpenRegions::grow(Arena& arena) noexcept {
    if (capacity_ == most) return false;
    const std::uint32_t wanted = capacity_ == 0 ? 32 : capacity_ * 2;
    auto* larger = arena.array<OpenRegion>(wanted);
    auto* counted = count_ == 0 ? nullptr : arena.array<std::uint64_t>(std::size_t{wanted} * count_);
    if (larger == nullptr || (count_ != 0 && counted == nullptr)) return false;
    std::copy(counted_before_, counted_before_ + std::size_t{depth_} * count_, counted);
    counted_before_ = counted;
    std::copy(open_, open_ + depth_, larger);
    open_ = larger;
    capacity_ = wanted;
    return true;
}

void OpenRegions::begin_counting(std::uint32_t at) noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) counted_before_[std::size_t{at} * count_ + i] = counters_->of_program(i);
}

bool OpenRegions::counted_at_entry(std::uint64_t (&values)[most_counters]) const noexcept {
    const OpenRegion& region = open_[depth_ - 1];
    if (count_ == 0 || region.start != region.began_at) return false;
    const std::uint64_t* const at_entry = counted_before_ + std::size_t{depth_ - 1} * count_;
    std::copy(at_entry, at_entry + count_, values);
    return true;
}

void OpenRegions::add_counted(std::uint32_t at) noexcept {
    std::uint64_t* const counted = open_[at].counter->counted;
    for (std::uint32_t i = 0; i < count_; ++i) {
        const std::uint64_t before = counted_before_[std::size_t{at} * count_ + i];
        const std::uint64_t now = counters_->of_program(i);
        // Less than before: the location counts for another thread now.
        counted[i] += now > before ? now - before : 0;
    }
}

} // namespace libprofile
