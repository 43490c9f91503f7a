// What each start of a persistent send or collective counts, by the request's handle.
// Contract: as in request_table.hpp. Called by the wrapper bodies: insert when MPI has made the request, find when it is
// started, remove when it is freed.
#pragma once

#include "format/metrics.hpp"
#include "format/partners.hpp"
#include "libprofile/trace/envelope.hpp"

#include <cstdint>

namespace libprofile {

/// The additions to metrics of one start. Stands in for an MpiEvent where a call only prepares what is counted later.
struct Charge {
    static constexpr unsigned most = 4;
    Metric metrics[most] = {};
    std::uint8_t size = 0;
    std::uint64_t values[most] = {};
    bool is_message = false; // of a send
    Envelope envelope;
    std::uint64_t message_bytes = 0;

    void add(Metric metric, std::uint64_t value) noexcept {
        if (size == most) return;
        metrics[size] = metric;
        values[size++] = value;
    }
    void message(MessageDirection, const Envelope& to, std::uint64_t bytes) noexcept {
        is_message = true;
        envelope = to;
        message_bytes = bytes;
    }
};

namespace persistent_requests {

/// False when memory ran out: the starts of this request will not be counted.
bool insert(std::uint64_t handle, const Charge& charge) noexcept;

/// Returns nullptr for a receive and for a request that moves nothing. Valid until the request is freed.
const Charge* find(std::uint64_t handle) noexcept;

void remove(std::uint64_t handle) noexcept;

} // namespace persistent_requests
} // namespace libprofile
