// Leaves: some hundred events that follow each other, from a place where decoding can begin.
// Contract: a LeafReader belongs to one thread; allocates in proportion to the leaf; throws as EventFrames. Paths and phases are numbers of the file.
#pragma once

#include "tools/reader/event_decoder.hpp"
#include "tools/timeline/event_frames.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// What a decoder has to know in front of a leaf.
struct LeafCursor {
    std::uint64_t raw_at = 0;      // in the contents of the block
    std::uint64_t parts_left = 0;  // whose heads follow
    std::uint64_t events_left = 0; // of the part that the leaf begins in
    EventPart part = {};           // that part, without its lists; before a head: the part before
    EventState state = {};         // that of the event before
    std::uint64_t time = 0;        // what ended before the leaf, ended up to here; never falls
    bool is_end() const { return parts_left == 0 && events_left == 0; }
};

class LeafReader {
  public:
    static constexpr std::uint64_t size = 256; // events and heads of parts, and what belongs to the last one

    explicit LeafReader(const EventFrames& frames) : frames_(frames) {}
    /// At the first leaf of a block. False if its head makes no sense.
    bool begin(std::uint32_t thread, KeptEvents& head);
    void begin_at(const LeafCursor& cursor);

    const LeafCursor& cursor() const { return cursor_; }
    /// Appends the events of the next leaf, and moves on. A part that goes on from the leaf before is one with it if that is in the lists, too.
    /// False at the end, and where something is damaged.
    bool next(KeptEvents& events);
    bool is_damaged() const { return is_damaged_; }

  private:
    bool fill(std::size_t wanted);
    Decoder decoder() const { return {bytes_.data() + used_, bytes_.size() - used_}; }
    void take(const Decoder& after) { used_ = bytes_.size() - after.remaining(); }
    bool fail();

    const EventFrames& frames_;
    LeafCursor cursor_;
    std::vector<unsigned char> bytes_; // decompressed, from first_ on
    std::uint64_t first_ = 0;
    std::size_t used_ = 0, next_frame_ = 0;
    bool is_damaged_ = false;
};

} // namespace libprofile::tools
