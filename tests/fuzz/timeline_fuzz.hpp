// Events of a file by an index of them, and by one that was damaged behind the back of its checksums.
// Contract: for the fuzzers; allocates in proportion to the bytes. Ends in pictures or in one error.
#pragma once

#include "format/events.hpp"
#include "tools/reader/blocks.hpp"
#include "tools/reader/unpack.hpp"
#include "tools/timeline/duration_scan.hpp"
#include "tools/timeline/passing_scan.hpp"
#include "tools/timeline/row_builder.hpp"
#include "tools/timeline/row_window.hpp"
#include "tools/timeline/series_scan.hpp"

#include <cstdlib>
#include <memory>
#include <vector>

namespace libprofile::test {

inline void ask_timeline(const tools::IndexedRow& row, std::uint64_t a, std::uint64_t b, std::uint32_t random) {
    using namespace tools;
    try {
        const std::uint64_t from = std::min(a, b), to = std::max(a, b) + 1;
        events_between(row, from, to);
        sums_between(row, from, to);
        const TaskClasses classes(row.index().run_paths.size(), static_cast<std::uint8_t>(1 + random % 3));
        for (const PixelEffort effort : {PixelEffort{0, 0}, PixelEffort{0, 10}, PixelEffort{0, 100}, PixelEffort{1000, 1000}})
            pixels_between(row, static_cast<double>(from), static_cast<double>(to), 30, effort, &classes);
        Profile profile;
        profile.paths.resize(8);
        profile.functions.resize(1);
        profile.locations.resize(1);
        DurationScan scan(profile, {&row}, {{{from, to}}, random % 2 == 0}, {{}, 1});
        while (!scan.is_done()) scan.go_on(std::chrono::seconds(1));
        const IndexedRows rows = {&row};
        const RunTypes types(profile, rows);
        CallFilter filter;
        filter.with = random % 3 == 0 ? "" : "call";
        filter.least_ns = random % 5;
        const PassingCalls passing(profile, rows, types, filter);
        const std::vector<TaskClasses> of_rows = types.classes(2);
        PassingScan pieces(rows, passing, {{{from, to}}, false}, random % 2 == 0 ? &of_rows : nullptr);
        while (!pieces.is_done()) pieces.go_on(std::chrono::seconds(1), [](std::uint32_t, const PassingPiece&) {});
        using Of = SeriesQuestion::Of;
        for (const Of of : {Of::Time, Of::Calls, Of::Received}) {
            SeriesQuestion question{of, of == Of::Calls ? "*" : "collective"};
            question.edges = {{static_cast<double>(from), static_cast<double>(from + (to - from) / 2), static_cast<double>(to)}};
            question.is_total = random % 2 == 0;
            SeriesScan series(profile, rows, question);
            while (!series.is_done()) series.go_on(std::chrono::seconds(1));
            series.values(0);
        }
    } catch (const ReadError&) {
    }
}

/// @param random decides what is asked and damaged
inline void fuzz_timeline(tools::Bytes payload, std::uint32_t random) {
    using namespace tools;
    Decoder d(payload.data(), payload.size());
    EventsRecord head;
    describe(d, head);
    if (d.failed() || payload.empty()) return;
    EventsElsewhere block{{}, 0, payload.size(), payload.size(), checksum(payload), std::make_shared<std::vector<std::uint32_t>>(8, 0), {{0, 0}}};
    const auto source = std::make_shared<const MemorySource>(payload);
    auto places = EventFrames::find(*source, block);
    if (!places) std::abort();
    const std::vector<TimelineState> states = {TimelineState::OtherMpi, TimelineState::Region, TimelineState::Collective, TimelineState::OpenMp};
    auto built = build_row(EventFrames(source, block, *places, nullptr), static_cast<std::uint32_t>(head.thread), states);
    if (!built) return;
    const std::uint64_t span = std::max<std::uint64_t>(1, built->index.end - built->index.begin());
    const std::uint64_t a = built->index.begin() + random % span, b = built->index.begin() + (random >> 8) * std::uint64_t{2654435761} % span;
    std::vector<unsigned char> encoded = built->index.encoded();
    for (int damage = 0; damage < 4; ++damage) {
        std::optional<RowIndex> index = RowIndex::decoded(encoded, block);
        if (!index && damage == 0) std::abort();
        if (index) {
            const auto mend = [&](IndexBytes& bytes) {
                if (bytes.at <= built->bytes.size() && bytes.size <= built->bytes.size() - bytes.at)
                    bytes.crc = checksum(Bytes(built->bytes).subspan(static_cast<std::size_t>(bytes.at), bytes.size));
            };
            for (LeafGroup& group : index->groups) mend(group.leaves);
            for (IndexBytes& tens : index->tens) mend(tens);
            EventFrames frames(source, block, index->frames, std::make_shared<FrameCache>(1 << 20));
            const auto file = std::make_shared<const MemorySource>(Bytes(built->bytes));
            ask_timeline(IndexedRow(std::move(*index), std::move(frames), block, states, file), a, b, random);
        }
        random = random * 1664525 + 1013904223;
        std::vector<unsigned char>& damaged = damage == 1 && !built->bytes.empty() ? built->bytes : encoded;
        damaged[random % damaged.size()] ^= static_cast<unsigned char>(1 + (random >> 24) % 255);
    }
}

inline void fuzz_timelines(tools::Bytes file, std::uint32_t random) {
    using namespace tools;
    try {
        const BlockList list = find_blocks(file);
        Unpacker unpacker(file.size());
        for (const Block& one : list.blocks)
            if (one.type == BlockType::Events)
                if (const auto payload = unpacker.unpack(one)) fuzz_timeline(*payload, random);
    } catch (const ReadError&) {
    }
}

} // namespace libprofile::test
