// The states of threads in traces of Paraver, with Extrae's numbers and names.
// Contract: constant data; thread-safe; throws nothing.
#pragma once

#include "format/metrics.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace libprofile::tools {

enum class ParaverState : std::uint8_t {
    Idle = 0,
    Running = 1,
    Receive = 3,
    Send = 4,
    Synchronisation = 5,
    Probe = 6,
    ForkJoin = 7,
    Wait = 8,
    ImmediateSend = 10,
    ImmediateReceive = 11,
    File = 12,
    Group = 13,
    NotTraced = 14,
    Other = 15,
    SendReceive = 16,
    OneSided = 17
};

struct ParaverStateRow {
    ParaverState state;
    const char* name;
    const char* colour; // red, green, blue
};
std::span<const ParaverStateRow> paraver_states();

/// The state of a thread in a call or construct; none if it computes there as it did before.
std::optional<ParaverState> paraver_state(TimeCategory category, std::string_view function);

} // namespace libprofile::tools
