// Profiles that benchmarks make up: blocks one after another, as the runtime writes them.
// Contract: one thread; holds one block at a time in memory.
#pragma once

#include "tests/unit/tools_profile_builder.hpp"
#include "tools/reader/encoded.hpp"

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>
#include <zlib.h>

namespace libprofile::test {

/// Appends payloads as blocks to a file, and remembers where they are.
class WrittenProfile {
  public:
    WrittenProfile(const std::string& path, std::uint64_t ranks) : out_(path, std::ios::binary) {
        FileHeader header{};
        std::memcpy(header.magic, file_magic, sizeof file_magic);
        header.version = format_version;
        header.flags = FileComplete;
        header.ranks = ranks;
        put(&header, sizeof header);
    }

    template <class Write> void block(DirectoryEntryRecord entry, std::uint32_t rank, Write write) {
        payload_ = tools::encoded(write);
        add(entry, rank);
    }
    /// The same of a payload that is there.
    void block(DirectoryEntryRecord entry, std::uint32_t rank, const ByteVector& payload) {
        payload_ = payload;
        add(entry, rank);
    }

    void directory(std::uint32_t rank) {
        const std::uint64_t begin = at_;
        const std::vector<DirectoryEntryRecord> entries = std::exchange(entries_, {});
        block({static_cast<std::uint64_t>(BlockType::Directory)}, rank, [&](Encoder& e) {
            e.number(entries.size());
            for (DirectoryEntryRecord r : entries) {
                r.distance = begin - r.distance;
                describe(e, r);
            }
        });
        RankEntry place{begin, sizeof(BlockHeader) + entries_.front().stored_size, rank, 0};
        place.crc = crc32(&place, offsetof(RankEntry, crc));
        places_.push_back(place);
        entries_.clear();
    }

    bool end() {
        FooterRecord footer{0, at_, places_.size(), {}};
        std::memcpy(footer.magic, end_magic, sizeof end_magic);
        take(places_.data(), places_.size() * sizeof(RankEntry));
        stored(static_cast<std::uint32_t>(BlockType::RankTable), no_rank, payload_.size(), 0);
        footer.file_size = at_ + sizeof(BlockHeader) + sizeof footer;
        take(&footer, sizeof footer);
        stored(static_cast<std::uint32_t>(BlockType::Footer), no_rank, payload_.size(), crc32(&footer, sizeof footer));
        return static_cast<bool>(out_.flush());
    }

    std::uint64_t size() const { return at_; }

  private:
    void add(DirectoryEntryRecord entry, std::uint32_t rank) {
        const std::size_t raw = payload_.size();
        if (raw > 4096) { // as the runtime does
            compress(entry.type == static_cast<std::uint64_t>(BlockType::Events) ? events_frame_size : raw);
            if (compressed_.size() < raw && raw / 64 <= compressed_.size()) payload_.swap(compressed_);
        }
        entry.of_job = rank == no_rank ? 1 : 0;
        entry.distance = at_;
        entry.stored_size = payload_.size();
        entries_.push_back(entry);
        stored(static_cast<std::uint32_t>(entry.type), rank, raw, static_cast<std::uint32_t>(::crc32_z(0, payload_.data(), payload_.size())));
    }

    void compress(std::size_t frame) {
        compressed_.clear();
        for (std::size_t at = 0; at < payload_.size(); at += frame) {
            const std::size_t size = std::min(frame, payload_.size() - at), before = compressed_.size();
            compressed_.resize(before + ZSTD_compressBound(size));
            compressed_.resize(before +
                               ZSTD_compressCCtx(context_.get(), compressed_.data() + before, ZSTD_compressBound(size), payload_.data() + at, size, 1));
        }
    }
    void take(const void* bytes, std::size_t size) {
        const auto* first = static_cast<const unsigned char*>(bytes);
        payload_.assign(first, first + size);
    }
    void stored(std::uint32_t type, std::uint32_t rank, std::uint64_t raw, std::uint32_t crc) {
        const BlockHeader header{block_magic, type, payload_.size(), raw, crc, rank};
        put(&header, sizeof header);
        payload_.resize((payload_.size() + 7) / 8 * 8);
        put(payload_.data(), payload_.size());
    }
    void put(const void* bytes, std::size_t size) {
        out_.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
        at_ += size;
    }

    std::ofstream out_;
    std::uint64_t at_ = 0;
    ByteVector payload_, compressed_;
    std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_{ZSTD_createCCtx(), ZSTD_freeCCtx};
    std::vector<DirectoryEntryRecord> entries_; // since the last directory, with the place in the file as distance
    std::vector<RankEntry> places_;
};

inline DirectoryEntryRecord of(BlockType type, std::uint64_t phase = 0, std::uint64_t metric = 0) {
    DirectoryEntryRecord entry;
    entry.type = static_cast<std::uint64_t>(type);
    entry.phase = phase;
    entry.metric = metric;
    return entry;
}

/// A rank of one thread, which has the nodes of the job's tree.
inline void write_rank_tables(WrittenProfile& file, std::uint32_t rank, std::uint64_t wall_ns, std::uint64_t nodes) {
    file.block(of(BlockType::Rank), rank, [&](Encoder& e) {
        RankRecord r;
        r.rank = rank;
        r.pid = 1000 + rank;
        r.host = "node0";
        r.threads = r.complete = 1;
        describe(e, r);
    });
    file.block(of(BlockType::Location), rank, [&](Encoder& e) {
        LocationRecord r{0, wall_ns, 1, static_cast<std::uint64_t>(PathsIn::NodeMap), 0, 0};
        describe(e, r);
    });
    if (rank == 0)
        file.block(of(BlockType::NodeMap), rank, [&](Encoder& e) {
            NodeMapRecord r{0, nodes};
            describe(e, r);
            for (std::uint64_t n = 0; n < nodes; ++n) e.signed_number(1);
        });
}

inline void write_metrics(Encoder& e) {
    e.number(metric_count);
    e.text("time");
    e.text("ns");
    for (const CatalogueRow& row : metric_catalogue) {
        if (row.kind != CatalogueKind::Direct) continue;
        e.text(row.name);
        e.text(row.unit);
    }
    e.number(0);
}

} // namespace libprofile::test
