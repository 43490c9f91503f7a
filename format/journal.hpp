// The journal at the end of a live file: one record for each iteration that was closed after the rest of the file was written.
// docs/format.md describes it in words; format/profile_file.hpp describes the file around it.
// Contract: plain data and inline functions; no allocation; async-signal-safe. Readers must accept any bytes.
//
//   journal := record*               from the first byte of the Journal block's payload on; zero after the last record
//   record  := JournalRecordHeader payload padding       (padding: zero bytes up to a multiple of 8)
//
// A record is complete or missing: its header's mark is written last, and its check depends on its position in the journal.
#pragma once

#include "format/codec.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace libprofile {

inline constexpr std::uint32_t journal_mark = 0x4345524a; // "JREC"

struct JournalRecordHeader {
    std::uint32_t mark; // 0 if there is no record (yet)
    std::uint32_t size; // bytes of payload
    std::uint64_t check;
};
static_assert(sizeof(JournalRecordHeader) == 16);

/// The check of a payload that is number `sequence` (from 0) of its journal. Also reads its padding up to a multiple of 8. Not CRC-32, which
/// takes a nanosecond a byte, as long as all other work together.
inline std::uint64_t journal_check(const unsigned char* payload, std::size_t size, std::uint64_t sequence) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15u;
    std::uint64_t h = (sequence + 1) * factor ^ size;
    for (std::size_t i = 0; i < size; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, payload + i, 8);
        h = std::rotl((h ^ word) * factor, 29);
    }
    h *= factor;
    return h ^ (h >> 32);
}

inline constexpr std::size_t padded_to_8(std::size_t size) { return (size + 7) & ~std::size_t{7}; }

/// The first number of a payload.
enum class JournalRecord : std::uint64_t {
    Definitions = 1, // first phase, n, n*(kind, text name); first module, n, ModuleRecord*; n, FunctionRecord*;
                     // first node, n, NodeRecord*. Numbers below the first new number are already known.
    Iteration = 2,   // JournalIteration, cells
    Phase = 3,       // JournalPhase, cells: the values of a phase without iterations
    PutBack = 4,     // phase: the last iteration of that phase, with fate Own or Mixed, was taken back, because no cluster took it. Its
                     // cells are now the phase's rest, and it counts as unclustered; its values in the series stay
};

/// What happened to the values of a closed iteration.
enum class IterationFate : std::uint64_t {
    Own = 0,     // a profile of its own; nothing remains in the rest of its phase
    Rest = 1,    // no memory for it: the cells are now the rest
    Unknown = 2, // no memory for the cells either: they are in the rest, which is no longer known
    Mixed = 3,   // like Own, but with values of earlier iterations as well: for clusters like Own, in the series unknown
};

struct JournalIteration {
    std::uint64_t phase = 0; // its number among the main thread's phases, in the order of the file
    std::uint64_t fate = 0;
    std::uint64_t wall_ns = 0;           // inclusive
    std::uint64_t wall_inclusive_ns = 0; // of all closed iterations of the phase
    std::uint64_t thread_wall_ns = 0;    // of the thread until now
    std::uint64_t samples_taken = 0;     // by the thread since the file was written
    std::uint64_t samples_lost = 0;
    std::uint64_t signatures[4] = {}; // of its structure: strong, weak; equal if and only if the structures are equal
    std::uint64_t cells = 0;
};
template <class Codec> void describe(Codec& c, JournalIteration& r) {
    c.number(r.phase);
    c.number(r.fate);
    c.number(r.wall_ns);
    c.number(r.wall_inclusive_ns);
    c.number(r.thread_wall_ns);
    c.number(r.samples_taken);
    c.number(r.samples_lost);
    for (std::uint64_t& part : r.signatures) c.number(part);
    c.number(r.cells);
}

struct JournalPhase {
    std::uint64_t phase = 0;
    std::uint64_t instances = 0;
    std::uint64_t wall_inclusive_ns = 0; // of closed instances
    std::uint64_t not_sampled_ns = 0;    // computing time, not yet in the cells, less what the samples since then stand for (modulo 2^64)
    std::uint64_t off_cpu_ns = 0;
    std::uint64_t cells = 0;
};
template <class Codec> void describe(Codec& c, JournalPhase& r) {
    c.number(r.phase);
    c.number(r.instances);
    c.number(r.wall_inclusive_ns);
    c.number(r.not_sampled_ns);
    c.number(r.off_cpu_ns);
    c.number(r.cells);
}

/// The cells of a record. Each is a byte with the sizes of two integers (value in bits 0 to 3, key in bits 4 to 7), then the value, then the
/// difference of the key (node * 64 + metric) from that of the cell before, modulo 2^32; least significant bytes first. This is as small as
/// numbers of 7 bits a byte, and faster to write.
struct JournalCells {
    static constexpr std::size_t largest = 1 + 8 + 4;
    static constexpr std::size_t slack = 8; // bytes after the last cell that put() may overwrite

    /// `out` must have room for largest + slack bytes. Returns the byte after the cell.
    static unsigned char* put(unsigned char* out, std::uint32_t key_difference, std::uint64_t value) {
        const auto value_bytes = static_cast<unsigned>(std::bit_width(value) + 7) / 8;
        const auto key_bytes = static_cast<unsigned>(std::bit_width(key_difference) + 7) / 8;
        *out++ = static_cast<unsigned char>(value_bytes | key_bytes << 4);
        std::memcpy(out, &value, 8);
        out += value_bytes;
        std::memcpy(out, &key_difference, 4);
        return out + key_bytes;
    }
    /// Reads the cell at `in` and moves on. Returns false if the `left` bytes contain none.
    static bool get(const unsigned char*& in, std::size_t& left, std::uint32_t& key_difference, std::uint64_t& value) {
        if (left == 0) return false;
        const unsigned value_bytes = *in & 15u;
        const unsigned key_bytes = *in >> 4;
        const std::size_t size = 1 + value_bytes + key_bytes;
        if (value_bytes > 8 || key_bytes > 4 || size > left) return false;
        value = key_difference = 0;
        std::memcpy(&value, in + 1, value_bytes);
        std::memcpy(&key_difference, in + 1 + value_bytes, key_bytes);
        in += size;
        left -= size;
        return true;
    }
};

} // namespace libprofile
