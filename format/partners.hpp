// Who a thread exchanged point-to-point messages with: per call path, over the whole run.
// Contract: plain data.
#pragma once

#include <cstdint>

namespace libprofile {

/// Partners of one call path and direction that are told apart.
inline constexpr std::uint32_t most_partners = 8;

enum class MessageDirection : std::uint8_t { Sent, Received };
inline constexpr std::uint32_t message_directions = 2;

/// Then `rows` times: PartnerRowRecord and its PartnerRecord*.
struct PartnersRecord {
    std::uint64_t thread = 0;
    std::uint64_t lost = 0; // messages without a row: no memory
    std::uint64_t rows = 0;
};
template <class Codec> void describe(Codec& c, PartnersRecord& r) {
    c.number(r.thread);
    c.number(r.lost);
    c.number(r.rows);
}

struct PartnerRowRecord {
    std::uint64_t node_difference = 0; // to that of the row before, 0 before the first
    std::uint64_t direction = 0;       // MessageDirection
    std::uint64_t others = 0;          // messages of further partners
    std::uint64_t other_bytes = 0;
    std::uint64_t unknown = 0; // messages whose partner is not known
    std::uint64_t unknown_bytes = 0;
    std::uint64_t partners = 0;
};
template <class Codec> void describe(Codec& c, PartnerRowRecord& r) {
    c.number(r.node_difference);
    c.number(r.direction);
    c.number(r.others);
    c.number(r.other_bytes);
    c.number(r.unknown);
    c.number(r.unknown_bytes);
    c.number(r.partners);
}

struct PartnerRecord {
    std::uint64_t rank = 0; // in MPI_COMM_WORLD
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};
template <class Codec> void describe(Codec& c, PartnerRecord& r) {
    c.number(r.rank);
    c.number(r.messages);
    c.number(r.bytes);
}

} // namespace libprofile
