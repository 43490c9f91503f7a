// The Partners block of a thread (format/partners.hpp).
// Contract: as for serializer.hpp.
#pragma once

#include "format/partners.hpp"
#include "format/profile_file.hpp"
#include "libprofile/thread/partners.hpp"

namespace libprofile {

inline void write_partners(Encoder& encoder, std::uint32_t thread, const Partners& partners) noexcept {
    PartnersRecord record{thread, partners.lost(), partners.rows()};
    describe(encoder, record);
    NodeId before = 0;
    partners.for_each([&](NodeId node, MessageDirection direction, const Partners::Row& row) {
        const Partners::Sum &others = row.sums[Partners::others_at], &unknown = row.sums[Partners::unknown_at];
        PartnerRowRecord out{node - before, static_cast<std::uint64_t>(direction), others.messages, others.bytes, unknown.messages, unknown.bytes, row.size};
        describe(encoder, out);
        before = node;
        for (std::uint32_t i = 0; i < row.size; ++i) {
            PartnerRecord partner{row.ranks[i], row.sums[i].messages, row.sums[i].bytes};
            describe(encoder, partner);
        }
    });
}

} // namespace libprofile
