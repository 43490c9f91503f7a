#include "tools/timeline/row_index.hpp"

#include "tools/reader/encoded.hpp"
#include "tools/reader/raw_records.hpp"

namespace libprofile::tools {

namespace {

using ByteVector = std::vector<unsigned char>;

/// Those that are there, after a mask of them.
template <class Codec, std::size_t count> void describe_sums(Codec& c, std::array<std::uint64_t, count>& sums) {
    std::uint64_t mask = 0;
    for (std::size_t s = 0; s < sums.size(); ++s) mask |= sums[s] != 0 ? std::uint64_t{1} << s : 0;
    c.number(mask);
    for (std::size_t s = 0; s < sums.size(); ++s)
        if ((mask >> s & 1) != 0) c.number(sums[s]);
}

/// A number that is near another one.
template <class Codec> void describe_near(Codec& c, std::uint64_t& value, std::uint64_t other) {
    auto difference = static_cast<std::int64_t>(value - other);
    c.signed_number(difference);
    if constexpr (Codec::reading) value = other + static_cast<std::uint64_t>(difference);
}

template <class Codec, class Narrow> void describe_narrow(Codec& c, Narrow& value) {
    std::uint64_t wide = static_cast<std::uint64_t>(value);
    c.number(wide);
    if constexpr (Codec::reading) value = static_cast<Narrow>(wide);
}

template <class Codec> void describe_tasks(Codec& c, TaskSums& tasks) {
    std::uint64_t count = tasks.size();
    c.number(count);
    if constexpr (Codec::reading) tasks.resize(static_cast<std::size_t>(std::min<std::uint64_t>(count, c.remaining() / 2))); // fewer: bytes are left over
    for (auto& [position, ns] : tasks) {
        describe_narrow(c, position);
        c.number(ns);
    }
}

template <class Codec> void describe_kind(Codec& c, MessageKind& kind) {
    describe_narrow(c, kind.partner);
    describe_narrow(c, kind.communicator);
    std::int64_t tag = kind.tag;
    c.signed_number(tag);
    if constexpr (Codec::reading) kind.tag = static_cast<std::int32_t>(tag);
    describe_narrow(c, kind.is_received);
    c.number(kind.number);
    c.number(kind.sum);
}

std::uint64_t time_of(const EventLeaf& leaf) { return leaf.cursor.time; }
std::uint64_t time_of(const LeafTen& ten) { return ten.time; }

template <class Codec> void describe_behind(Codec& c, EventLeaf& leaf, const EventLeaf& last) {
    LeafCursor& at = leaf.cursor;
    const LeafCursor& before = last.cursor;
    describe_near(c, at.raw_at, before.raw_at);
    describe_near(c, at.parts_left, before.parts_left);
    describe_near(c, at.time, before.time);
    c.number(at.events_left);
    describe_near(c, at.part.end_ns, at.time);
    if (at.events_left != 0) {
        describe_narrow(c, at.part.kind);
        describe_narrow(c, at.part.phase);
        describe_narrow(c, at.part.reasons);
        describe_near(c, at.part.number, before.events_left != 0 ? before.part.number : 0); // else it was not written
        describe_near(c, at.part.begin_ns, at.time);
        describe_near(c, at.state.at_ns, at.time);
        c.number(at.state.path);
        describe_narrow(c, at.state.processor);
        describe_sums(c, at.state.counted);
    }
    describe_sums(c, leaf.sums);
    c.number(leaf.longest);
    describe_tasks(c, leaf.tasks);
}

template <class Codec> void describe_behind(Codec& c, LeafTen& ten, const LeafTen& last) {
    describe_near(c, ten.time, last.time);
    describe_sums(c, ten.sums);
    c.number(ten.longest);
    describe_tasks(c, ten.tasks);
}

template <class Codec> void describe_bytes(Codec& c, IndexBytes& bytes, std::uint64_t at) {
    describe_near(c, bytes.at, at);
    describe_narrow(c, bytes.size);
    describe_narrow(c, bytes.crc);
}

/// Each in terms of the one before it.
template <class Item> ByteVector encoded_items(std::span<const Item> items) {
    return encoded([&](Encoder& e) {
        const Item none{};
        const Item* last = &none;
        for (const Item& item : items) {
            Item copy = item;
            describe_behind(e, copy, *last);
            last = &item;
        }
    });
}

/// @param least_bytes of an item
template <class Item> std::optional<std::vector<Item>> decoded_items(std::span<const unsigned char> bytes, std::size_t count, std::size_t least_bytes) {
    Decoder d(bytes.data(), bytes.size());
    if (count > bytes.size() / least_bytes) return std::nullopt;
    std::vector<Item> items(count);
    const Item none{};
    const Item* last = &none;
    for (Item& item : items) {
        describe_behind(d, item, *last);
        if (d.failed() || time_of(item) < time_of(*last)) return std::nullopt;
        last = &item;
    }
    return d.remaining() == 0 ? std::optional(std::move(items)) : std::nullopt;
}

template <class Codec> void describe_head(Codec& c, RowIndex& row) {
    c.number(row.head.stride);
    c.number(row.head.window_ns);
    c.number(row.head.dropped_parts);
    c.number(row.head.too_large);
    c.number(row.head.dropped_events);
    c.number(row.leaves);
    c.number(row.end);
}

} // namespace

ByteVector encoded_leaves(std::span<const EventLeaf> leaves) { return encoded_items(leaves); }

std::optional<std::vector<EventLeaf>> decoded_leaves(std::span<const unsigned char> bytes, std::size_t count) {
    return decoded_items<EventLeaf>(bytes, count, 8);
}

ByteVector encoded_tens(std::span<const LeafTen> tens) { return encoded_items(tens); }

std::optional<std::vector<LeafTen>> decoded_tens(std::span<const unsigned char> bytes, std::size_t count) { return decoded_items<LeafTen>(bytes, count, 4); }

std::size_t RowIndex::group_at(std::uint64_t ns) const {
    const auto after = std::upper_bound(groups.begin(), groups.end(), ns, [](std::uint64_t at, const LeafGroup& group) { return at < group.time; });
    return after == groups.begin() ? 0 : static_cast<std::size_t>(after - groups.begin()) - 1;
}

void RowIndex::set_least_begins() {
    least_begins.clear();
    std::vector<std::uint64_t> below;
    for (const LongInterval& one : longs) below.push_back(one.interval.begin_ns);
    while (below.size() > 1) {
        std::vector<std::uint64_t>& level = least_begins.emplace_back((below.size() + LongInterval::arity - 1) / LongInterval::arity, ~std::uint64_t{0});
        for (std::size_t i = 0; i < below.size(); ++i) level[i / LongInterval::arity] = std::min(level[i / LongInterval::arity], below[i]);
        below = level;
    }
}

ByteVector RowIndex::encoded() const {
    return tools::encoded([this](Encoder& e) {
        RowIndex start;
        start.head = head;
        start.leaves = leaves;
        start.end = end;
        describe_head(e, start);
        for (const std::size_t size : {frames.size(), groups.size(), tens.size(), longs.size(), others.size(), run_paths.size(), made_at.size(), called.size(),
                                       read_first.size(), messages.size()})
            e.number(size);
        EventFrames::Place before;
        for (EventFrames::Place place : frames) {
            describe_near(e, place.raw_at, before.raw_at);
            describe_near(e, place.stored_at, before.stored_at);
            before = place;
        }
        std::uint64_t time = 0, at = 0;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            LeafGroup group = groups[g];
            describe_near(e, group.time, time);
            describe_bytes(e, group.leaves, at);
            e.number(group.longest);
            describe_tasks(e, group.tasks);
            e.number(group.nodes);
            TimelineSums sums = g + 1 < groups.size() ? groups[g + 1].before : all;
            for (std::size_t s = 0; s < sums.size(); ++s) sums[s] -= group.before[s];
            describe_sums(e, sums);
            time = group.time;
            at = group.leaves.at + group.leaves.size;
        }
        for (IndexBytes bytes : tens) {
            describe_bytes(e, bytes, at);
            at = bytes.at + bytes.size;
        }
        LongInterval last;
        for (LongInterval one : longs) {
            describe_near(e, one.interval.end_ns, last.interval.end_ns);
            describe_near(e, one.interval.begin_ns, one.interval.end_ns);
            describe_narrow(e, one.interval.path);
            describe_narrow(e, one.interval.processor);
            describe_narrow(e, one.is_run);
            std::uint64_t leaf = one.leaf - last.leaf;
            e.number(leaf);
            last = one;
        }
        for (const auto& [phase, number] : others) {
            e.number(phase);
            e.number(number);
        }
        for (const std::vector<std::uint32_t>* nodes : {&run_paths, &made_at})
            for (const std::uint32_t node : *nodes) e.number(node);
        for (const auto& [node, ns] : called) {
            e.number(node);
            e.number(ns);
        }
        for (const FirstReading& reading : read_first) {
            e.number(reading.counter);
            e.number(reading.ns);
            e.number(reading.value);
        }
        for (MessageKind kind : messages) describe_kind(e, kind);
        bool has_all = has_all_messages;
        describe_narrow(e, has_all);
    });
}

/// Groups and frames must lie in order, so that whoever searches them finds one; what they say of the file is checked where it is read.
std::optional<RowIndex> RowIndex::decoded(std::span<const unsigned char> bytes, const EventsElsewhere& block) {
    Decoder d(bytes.data(), bytes.size());
    RowIndex row;
    describe_head(d, row);
    std::uint64_t frames = 0, groups = 0, tens = 0, longs = 0, others = 0, run_paths = 0, made_at = 0, called = 0, read_first = 0, kinds = 0;
    for (std::uint64_t* count : {&frames, &groups, &tens, &longs, &others, &run_paths, &made_at, &called, &read_first, &kinds}) d.number(*count);
    if (d.failed() || frames > d.remaining() / 2 || groups > d.remaining() / 8 || longs > d.remaining() / 6 || others > d.remaining() / 2 ||
        run_paths > d.remaining() || made_at > d.remaining() || called > d.remaining() / 2 || read_first > d.remaining() / 3 || kinds > d.remaining() / 6 ||
        frames == 0 || row.head.stride == 0 || row.leaves > groups * LeafGroup::arity || (groups > 0 && row.leaves <= (groups - 1) * LeafGroup::arity) ||
        (groups == 0 && row.leaves != 0) || tens != (groups + groups_of_tens - 1) / groups_of_tens)
        return std::nullopt;
    row.frames.resize(frames);
    EventFrames::Place before;
    for (EventFrames::Place& place : row.frames) {
        const bool is_first = &place == row.frames.data();
        describe_near(d, place.raw_at, before.raw_at);
        describe_near(d, place.stored_at, before.stored_at);
        const bool is_right = is_first ? place.raw_at == 0 && place.stored_at == 0
                                       : place.raw_at >= before.raw_at && place.stored_at > before.stored_at && place.raw_at <= block.raw_size &&
                                             place.stored_at < block.stored_size;
        if (d.failed() || !is_right) return std::nullopt;
        before = place;
    }
    row.groups.resize(groups);
    std::uint64_t time = 0, at = 0;
    for (LeafGroup& group : row.groups) {
        describe_near(d, group.time, time);
        describe_bytes(d, group.leaves, at);
        d.number(group.longest);
        if (!d.failed()) describe_tasks(d, group.tasks);
        d.number(group.nodes);
        TimelineSums sums = {};
        group.before = row.all;
        if (!d.failed()) describe_sums(d, sums);
        if (d.failed() || group.time < time) return std::nullopt;
        for (std::size_t s = 0; s < sums.size(); ++s) row.all[s] += sums[s];
        time = group.time;
        at = group.leaves.at + group.leaves.size;
    }
    row.tens.resize(tens);
    for (IndexBytes& place : row.tens) {
        describe_bytes(d, place, at);
        at = place.at + place.size;
    }
    if (row.end < time) return std::nullopt;
    row.longs.resize(longs);
    LongInterval last;
    for (std::uint32_t i = 0; i < longs; ++i) {
        LongInterval& one = row.longs[i];
        describe_near(d, one.interval.end_ns, last.interval.end_ns);
        describe_near(d, one.interval.begin_ns, one.interval.end_ns);
        describe_narrow(d, one.interval.path);
        describe_narrow(d, one.interval.processor);
        describe_narrow(d, one.is_run);
        std::uint64_t leaf = 0;
        d.number(leaf);
        if (d.failed() || leaf > row.leaves - last.leaf || one.interval.begin_ns > one.interval.end_ns) return std::nullopt;
        one.leaf = last.leaf + static_cast<std::uint32_t>(leaf);
        last = one;
    }
    row.set_least_begins();
    row.others.resize(others);
    for (auto& [phase, number] : row.others) {
        describe_narrow(d, phase);
        d.number(number);
    }
    row.run_paths.resize(run_paths);
    row.made_at.resize(made_at);
    for (std::vector<std::uint32_t>* nodes : {&row.run_paths, &row.made_at}) {
        for (std::uint32_t& node : *nodes) describe_narrow(d, node);
        if (!std::is_sorted(nodes->begin(), nodes->end())) return std::nullopt;
    }
    row.called.resize(called);
    for (auto& [node, ns] : row.called) {
        describe_narrow(d, node);
        d.number(ns);
    }
    row.read_first.resize(read_first);
    for (RowIndex::FirstReading& reading : row.read_first) {
        describe_narrow(d, reading.counter);
        d.number(reading.ns);
        d.number(reading.value);
    }
    row.messages.resize(kinds);
    for (MessageKind& kind : row.messages) describe_kind(d, kind);
    describe_narrow(d, row.has_all_messages);
    return !d.failed() && d.remaining() == 0 ? std::optional(std::move(row)) : std::nullopt;
}

} // namespace libprofile::tools
