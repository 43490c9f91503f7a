#include "tools/timeline/event_frames.hpp"

#include "format/profile_file.hpp"

#include <algorithm>
#include <zlib.h>
#include <zstd.h>

namespace libprofile::tools {

FrameCache::Frame FrameCache::find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto known = at_.find(key);
    if (known == at_.end()) return nullptr;
    list_.splice(list_.begin(), list_, known->second);
    return known->second->second;
}

void FrameCache::add(const Key& key, const Frame& frame) {
    const std::lock_guard lock(mutex_);
    if (frame->size() > most_bytes_ || at_.contains(key)) return;
    list_.emplace_front(key, frame);
    at_[key] = list_.begin();
    for (bytes_ += frame->size(); bytes_ > most_bytes_; list_.pop_back()) {
        bytes_ -= list_.back().second->size();
        at_.erase(list_.back().first);
    }
}

std::optional<std::vector<EventFrames::Place>> EventFrames::find(const ByteSource& source, const EventsElsewhere& block) {
    constexpr std::size_t step = 1u << 20;
    const bool is_plain = block.raw_size == block.stored_size;
    std::vector<Place> places;
    std::vector<unsigned char> bytes; // that are not in a frame yet
    std::uint64_t read = 0, raw_at = 0;
    uLong crc = 0;
    while (read < block.stored_size || !bytes.empty()) {
        std::size_t used = 0;
        while (used < bytes.size()) {
            const std::size_t left = bytes.size() - used;
            std::size_t stored = std::min<std::size_t>(left, events_frame_size);
            std::uint64_t raw = stored;
            if (is_plain && left < events_frame_size && read < block.stored_size) break;
            if (!is_plain) {
                stored = ZSTD_findFrameCompressedSize(bytes.data() + used, left);
                if (ZSTD_isError(stored)) break; // it is not there whole, or damaged
                raw = ZSTD_getFrameContentSize(bytes.data() + used, left);
                if (raw == ZSTD_CONTENTSIZE_UNKNOWN || raw == ZSTD_CONTENTSIZE_ERROR || raw > block.raw_size - raw_at) return std::nullopt;
            }
            places.push_back({raw_at, read - left});
            raw_at += raw;
            used += stored;
        }
        bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(used));
        if (read == block.stored_size) {
            if (!bytes.empty() && used == 0) return std::nullopt;
            continue;
        }
        const std::vector<unsigned char> more = source.read(block.at + read, std::min<std::uint64_t>(std::max(step, bytes.size()), block.stored_size - read));
        if (more.empty()) return std::nullopt;
        crc = ::crc32_z(crc, more.data(), more.size());
        read += more.size();
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    if (raw_at != block.raw_size || crc != block.crc) return std::nullopt;
    return places;
}

std::size_t EventFrames::frame_at(std::uint64_t raw_at) const {
    if (raw_at >= block_.raw_size) return places_.size();
    const auto after = std::upper_bound(places_.begin(), places_.end(), raw_at, [](std::uint64_t at, const Place& place) { return at < place.raw_at; });
    return after == places_.begin() ? places_.size() : static_cast<std::size_t>(after - places_.begin()) - 1;
}

FrameCache::Frame EventFrames::frame(std::size_t number) const {
    const FrameCache::Key key(this, number);
    if (FrameCache::Frame known = cache_ ? cache_->find(key) : nullptr) return known;
    const Place& place = places_[number];
    const bool is_last = number + 1 == places_.size();
    const std::uint64_t stored = (is_last ? block_.stored_size : places_[number + 1].stored_at) - place.stored_at,
                        raw = (is_last ? block_.raw_size : places_[number + 1].raw_at) - place.raw_at;
    std::vector<unsigned char> bytes = source_->read(block_.at + place.stored_at, stored);
    if (block_.raw_size != block_.stored_size) {
        // What the index says of the size is believed as far as the frame says the same.
        std::vector<unsigned char> out(ZSTD_getFrameContentSize(bytes.data(), bytes.size()) == raw ? static_cast<std::size_t>(raw) : 0);
        const std::size_t size = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
        if (ZSTD_isError(size) || size != out.size()) out.clear();
        bytes = std::move(out);
    }
    if (bytes.size() != raw) bytes.clear();
    auto frame = std::make_shared<const std::vector<unsigned char>>(std::move(bytes));
    if (cache_) cache_->add(key, frame);
    return frame;
}

} // namespace libprofile::tools
