#include "libprofile/trace/part_store.hpp"

#include <cstring>

namespace libprofile {

/// No room without more ado. Returns nullptr if the event, which is counted then, has none.
[[gnu::cold, gnu::noinline]] unsigned char* PartStore::room_for_event() noexcept {
    if (!is_lost_ && make_room()) return next_;
    if (!is_lost_) lose_open();
    ++dropped_events_;
    return nullptr;
}

/// Twice the pages, up to the limit.
bool PartStore::grow() noexcept {
    const std::uint64_t list = bytes_of_list(0), most = limit_ > list ? (limit_ - list) / 4096 * 4096 : 0;
    if (capacity_ >= most) return false;
    std::uint64_t wanted = capacity_ == 0 ? 4 * 4096 : 2 * capacity_;
    if (wanted > most) wanted = most;
    auto* const pages = static_cast<unsigned char*>(memory_quota.map(wanted));
    if (pages == nullptr) return false;
    const CountsApart apart(*counters_);
    if (counters_->is_on()) { // else pages come one by one, as page faults of what is measured
        for (std::uint64_t at = 0; at < wanted; at += 4096) static_cast<volatile unsigned char*>(pages)[at] = 0;
    }
    const std::uint64_t bytes = size();
    if (bytes != 0) std::memcpy(pages, bytes_, bytes);
    if (bytes_ != nullptr) memory_quota.unmap(bytes_, capacity_);
    bytes_ = pages;
    next_ = pages + bytes;
    capacity_ = wanted;
    see_room();
    return true;
}

/// Another reason to stay, or none: then it goes when room is needed.
void PartStore::give_reasons(Part& part, unsigned reasons) noexcept {
    if (part.reasons != 0) (is_in_turn(part) ? in_turn_ : beside_) -= part.size;
    part.reasons = static_cast<std::uint8_t>(reasons);
    if (part.reasons != 0) (is_in_turn(part) ? in_turn_ : beside_) += part.size;
}

/// Room for one more event, or part, perhaps with a longer stride.
[[gnu::cold]] bool PartStore::make_room() noexcept {
    if (size() + most_bytes_of_event > capacity_ && grow()) return true;
    if (2 * (size() - open_.at) > capacity_) return false; // nothing else would be left
    constexpr std::uint64_t largest_stride = std::uint64_t{1} << 40;
    // Not for a few bytes: then the next event would be here again.
    while (!has_room(capacity_ / 8) && stride_ < largest_stride && parts_ != 0) {
        if (parts_ <= few_parts) { // what is left is large: a longer stride would only lose what comes
            drop_largest();
            continue;
        }
        stride_ *= 2;
        for (std::size_t i = 0; i < parts_; ++i)
            if (is_in_turn(list_[i]) && !has_turn(list_[i].key)) give_reasons(list_[i], list_[i].reasons & ~static_cast<unsigned>(PartHasItsTurn));
        // The last ones go first, the slowest ones stay longest.
        for (const unsigned reason : {PartIsFirstOfKind, PartIsSlow})
            for (std::size_t i = parts_; i-- > 0 && beside_ > in_turn_;)
                if (!is_in_turn(list_[i]) && (list_[i].reasons & reason) != 0) give_reasons(list_[i], 0);
        compact();
        ++thinnings_;
    }
    return has_room(most_bytes_of_event);
}

/// A few parts fill the memory.
void PartStore::drop_largest() noexcept {
    std::size_t largest = 0;
    for (std::size_t i = 1; i < parts_; ++i)
        if (list_[i].size > list_[largest].size) largest = i;
    give_reasons(list_[largest], 0);
    compact();
    ++too_large_;
    ++thinnings_;
}

void PartStore::drop(const Part& part) noexcept {
    ++dropped_parts_;
    dropped_events_ += part.events;
}

/// Parts without a reason go, and the others close ranks.
void PartStore::compact() noexcept {
    std::uint64_t size = 0;
    std::size_t kept = 0;
    const auto move = [&](Part& part) {
        if (part.at != size && part.size != 0) std::memmove(bytes_ + size, bytes_ + part.at, part.size);
        part.at = size;
        size += part.size;
    };
    for (std::size_t i = 0; i < parts_; ++i) {
        Part part = list_[i];
        if (part.reasons == 0) {
            drop(part);
            continue;
        }
        move(part);
        list_[kept++] = part;
    }
    parts_ = kept;
    open_.size = this->size() - open_.at;
    move(open_);
    next_ = bytes_ + size;
}

/// The part has more events than memory. What comes of it is only counted.
[[gnu::cold]] void PartStore::lose_open() noexcept {
    next_ = bytes_ + open_.at;
    dropped_events_ += events_of_open_;
    events_of_open_ = 0;
    is_lost_ = true;
    see_room();
}

bool PartStore::close(const PartKey& key, std::uint64_t end, std::uint8_t reasons) noexcept {
    open_.key = key;
    open_.end = end;
    const bool is_full = !is_lost_ && size() + bytes_of_list(1) > limit_ && !make_room();
    open_.size = size() - open_.at;
    open_.events = static_cast<std::uint32_t>(events_of_open_);
    if (is_lost_ || is_full || (parts_ == list_.size() && list_.append(*arena_) == nullptr)) {
        if (!is_lost_) lose_open();
        ++dropped_parts_;
        ++too_large_;
        return false;
    }
    Part& closed = list_[parts_++];
    closed = open_;
    give_reasons(closed, has_turn(key) ? reasons : reasons & ~static_cast<unsigned>(PartHasItsTurn)); // room may have been made since
    return true;
}

/// The position of one of the last few parts.
std::size_t PartStore::find_late(const PartKey& key) const noexcept {
    constexpr std::size_t few = 8;
    for (std::size_t i = parts_; i-- > 0 && i + few >= parts_;)
        if (list_[i].key == key) return i;
    return nowhere;
}

bool PartStore::needs_reason(const PartKey& key) const noexcept {
    const std::size_t at = find_late(key);
    return at != nowhere && !is_in_turn(list_[at]);
}

bool PartStore::has(const PartKey& key) const noexcept {
    for (std::size_t i = parts_; i-- > 0;)
        if (list_[i].key == key) return list_[i].reasons != 0;
    return false;
}

bool PartStore::decide(const PartKey& key, PartReason reason, bool has_it) noexcept {
    const std::size_t at = find_late(key);
    if (at == nowhere) return false;
    Part& part = list_[at];
    give_reasons(part, has_it ? part.reasons | unsigned{reason} : part.reasons & ~static_cast<unsigned>(reason));
    if (!is_in_turn(part) && beside_ > in_turn_) give_reasons(part, 0);
    if (part.reasons != 0) return true;
    // The bytes behind it are few: those of the parts since, and of the open one.
    const Part gone = part;
    drop(gone);
    std::memmove(bytes_ + gone.at, bytes_ + gone.at + gone.size, size() - gone.at - gone.size);
    for (std::size_t i = at + 1; i < parts_; ++i) {
        list_[i - 1] = list_[i];
        list_[i - 1].at -= gone.size;
    }
    --parts_;
    open_.at -= gone.size;
    next_ -= gone.size;
    return false;
}

void PartStore::forget(const PartKey& key, PartReason reason) noexcept {
    for (std::size_t i = parts_; i-- > 0;)
        if (list_[i].key == key) return give_reasons(list_[i], list_[i].reasons & ~static_cast<unsigned>(reason));
}

} // namespace libprofile
