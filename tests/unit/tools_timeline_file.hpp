// A profile on disk whose only thread has many events, in a folder that goes away with it.
// Contract: for tests; allocates.
#pragma once

#include "format/events.hpp"
#include "tests/unit/split_mix.hpp"
#include "tests/unit/tools_profile_builder.hpp"
#include "tools/reader/reader.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace libprofile::test {

struct MadeTrace {
    std::uint64_t parts = 0, calls = 0; // of each part
    std::uint64_t stride = 1;           // parts between them are not there
    bool has_outer = false;             // calls of MPI lie in one of OpenMP, which is as long as two parts
};

/// An interval, as the runtime codes it behind the one before.
struct IntervalCoder {
    std::uint64_t node = 0, at = 0; // of the one before
    EventRecord next(std::uint64_t its, std::uint64_t from, std::uint64_t to) {
        EventRecord event;
        const auto difference = static_cast<std::int64_t>(its - node);
        event.rest = (static_cast<std::uint64_t>(difference) << 1) ^ static_cast<std::uint64_t>(difference >> 63);
        event.gap = static_cast<std::int64_t>(from - at);
        event.length = to - from;
        node = its;
        at = to;
        return event;
    }
};

/// Calls of 5 nodes: 2 and 3 send and receive, 4 is a region around some of them, 5 a construct of OpenMP.
inline ByteVector made_events(const MadeTrace& made) {
    Random random{made.parts * 31 + made.calls};
    ByteVector bytes;
    const auto put = [&](auto record) {
        unsigned char room[200];
        Encoder e(room, sizeof room);
        describe(e, record);
        bytes.insert(bytes.end(), room, room + e.size());
    };
    put(EventsRecord{0, made.stride, 1'000'000, made.stride == 1 ? 0 : made.parts, 0, 0, made.parts});
    std::uint64_t end = 0, now = 50'000, outer = now;
    for (std::uint64_t p = 0; p < made.parts; ++p) {
        ByteVector whole = std::move(bytes);
        bytes.clear();
        const std::uint64_t begin = now;
        std::uint64_t events = 0, region = now;
        IntervalCoder coder{0, begin};
        const auto interval = [&](std::uint64_t its, std::uint64_t from, std::uint64_t to) {
            put(coder.next(its, from, to));
            ++events;
        };
        for (std::uint64_t c = 0; c < made.calls; ++c) {
            now += random() % 300;
            if (c % 50 == 0) region = now;
            const std::uint64_t from = now, inner = random() % 7 == 0 ? 1 + random() % 40 : 0;
            now += random() % 5 == 0 ? 0 : 10 + random() % 400;
            if (inner != 0) interval(3, from, from + std::min(inner, now - from)); // inside the next one
            interval(2 + c % 2, from, now);
            if (c % 3 == 0) {
                EventRecord message;
                message.type = EventType::Message;
                message.rest = MessageHasPartner | MessageHasNumber;
                message.number = p * made.calls + c + 1;
                message.partner = c % 2;
                message.bytes = 10 * c;
                put(message);
                ++events;
            }
            if (c % 9 == 4) { // whose sender has no record of it
                EventRecord message;
                message.type = EventType::Message;
                message.rest = MessageIsReceived | (c % 2 == 0 ? std::uint64_t{MessageHasPartner} : 0);
                message.partner = 3;
                message.bytes = c;
                put(message);
                ++events;
            }
            if (c % 50 == 49) interval(4, region, now);
        }
        now += random() % 500;
        if (p % 2 == 0) outer = begin;
        if (made.has_outer && p % 2 == 1) interval(5, outer, now);
        EventPartRecord head{static_cast<std::uint64_t>(PartKind::Iteration), 1, p * made.stride, PartHasItsTurn, begin - end, now - begin, events, 0};
        ByteVector part = std::move(bytes);
        bytes = std::move(whole);
        put(head);
        bytes.insert(bytes.end(), part.begin(), part.end());
        end = now;
        now += made.stride == 1 ? random() % 3 * 6'000 : made.calls * 400; // shorter and longer than the shortest window
    }
    return bytes;
}

struct MadeCall {
    std::uint64_t node = 0, begin_ns = 0, end_ns = 0;
};

/// In the order of their ends, in one part from 0 to the last end.
inline ByteVector made_events(const std::vector<MadeCall>& calls) {
    ByteVector bytes;
    const auto put = [&](auto record) {
        unsigned char room[200];
        Encoder e(room, sizeof room);
        describe(e, record);
        bytes.insert(bytes.end(), room, room + e.size());
    };
    put(EventsRecord{0, 1, 1'000'000, 0, 0, 0, 1});
    put(EventPartRecord{static_cast<std::uint64_t>(PartKind::Iteration), 1, 0, PartHasItsTurn, 0, calls.back().end_ns, calls.size(), 0});
    IntervalCoder coder;
    for (const auto& [its, begin, end] : calls) put(coder.next(its, begin, end));
    return bytes;
}

class TimelineFile {
  public:
    explicit TimelineFile(const MadeTrace& made) { write_profile(made_events(made)); }
    explicit TimelineFile(const std::vector<MadeCall>& calls) { write_profile(made_events(calls)); }
    TimelineFile(const TimelineFile&) = delete;
    TimelineFile& operator=(const TimelineFile&) = delete;
    ~TimelineFile() {
        std::error_code error;
        std::filesystem::remove_all(folder_, error);
    }

    const std::filesystem::path& path() const { return folder_; }
    void damage(std::uint64_t at) const {
        std::fstream file(folder_ / "profile.lprof", std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(at));
        file.write("damaged", 7);
    }

    /// In several frames, as the runtime writes it.
    static void add_events(ProfileBuilder& b, const ByteVector& raw) {
        ByteVector stored;
        for (std::size_t at = 0; at < raw.size(); at += events_frame_size) {
            const std::size_t size = std::min(events_frame_size, raw.size() - at), before = stored.size();
            stored.resize(before + ZSTD_compressBound(size));
            stored.resize(before + ZSTD_compress(stored.data() + before, stored.size() - before, raw.data() + at, size, 1));
        }
        b.stored_block({BlockType::Events, 0}, stored, raw.size());
    }

  private:
    void write_profile(const ByteVector& events) {
        char name[] = "/tmp/libprofile-timeline-XXXXXX";
        folder_ = ::mkdtemp(name);
        ProfileBuilder b(1);
        b.job(1);
        b.metrics();
        RankRecord rank;
        rank.threads = rank.complete = 1;
        b.rank(rank);
        b.modules(0, {{"MADE", "/nowhere/made"}});
        b.functions(0, {{0, "MPI_Send", TimeCategory::MpiP2p}, {1, "MPI_Allreduce", TimeCategory::MpiColl}, {2, "GOMP_barrier", TimeCategory::OmpBarrier}});
        b.tree(0, 0, 1000,
               {{0, NodeKind::Frame, 0, 0x10}, {1, NodeKind::Mpi, 0, 0}, {1, NodeKind::Mpi, 1, 0}, {1, NodeKind::Region, 0, 7}, {1, NodeKind::OpenMp, 2, 0}});
        BuiltPhase outside, step;
        step.name = "step";
        step.kind = PhaseKind::Iterations;
        step.wall_ns = step.wall_inclusive_ns = 1000;
        step.clusters = {{1, 0, {{1, Metric::Time, 1000}}}};
        step.cluster_of_iteration = {0};
        step.iteration_ns = {1000};
        b.phase(0, outside);
        b.phase(0, step);
        add_events(b, events);
        b.directory(0);
        b.end();
        write(b.bytes());
    }
    void write(const ByteVector& bytes) const {
        std::ofstream(folder_ / "profile.lprof", std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    std::filesystem::path folder_;
};

} // namespace libprofile::test
