// The contents of an Events block in its file, of which any part can be read.
// Contract: constant after construction and then thread-safe; allocates frames as they are asked for, and keeps the last ones of all blocks. Damaged frames
// are empty. Throws ReadError where the source does, and std::bad_alloc.
#pragma once

#include "tools/reader/byte_source.hpp"
#include "tools/reader/events.hpp"

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// What was decompressed last.
class FrameCache {
  public:
    using Frame = std::shared_ptr<const std::vector<unsigned char>>;
    using Key = std::pair<const void*, std::size_t>; // a block, and the number of its frame

    explicit FrameCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}
    Frame find(const Key& key);
    void add(const Key& key, const Frame& frame);

  private:
    const std::size_t most_bytes_;
    std::mutex mutex_;
    std::size_t bytes_ = 0;
    std::list<std::pair<Key, Frame>> list_; // the one that was asked for last is the first
    std::map<Key, std::list<std::pair<Key, Frame>>::iterator> at_;
};

class EventFrames {
  public:
    /// Where a frame begins: in the contents, and in the stored payload.
    struct Place {
        std::uint64_t raw_at = 0, stored_at = 0;
    };

    /// Finds the frames. Empty if the block is damaged: of another checksum, or none of frames that add up to it.
    static std::optional<std::vector<Place>> find(const ByteSource& source, const EventsElsewhere& block);

    EventFrames(std::shared_ptr<const ByteSource> source, const EventsElsewhere& block, std::vector<Place> places, std::shared_ptr<FrameCache> cache)
        : source_(std::move(source)), block_(block), places_(std::move(places)), cache_(std::move(cache)) {}

    const std::vector<Place>& places() const { return places_; }
    /// The frame that has this byte of the contents; places().size() behind the last one.
    std::size_t frame_at(std::uint64_t raw_at) const;
    FrameCache::Frame frame(std::size_t number) const;

  private:
    std::shared_ptr<const ByteSource> source_;
    EventsElsewhere block_;
    std::vector<Place> places_;
    std::shared_ptr<FrameCache> cache_; // may be null
};

} // namespace libprofile::tools
