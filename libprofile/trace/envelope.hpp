// What MPI finds the other end of a message by.
// Contract: plain data.
#pragma once

#include <cstdint>

namespace libprofile {

/// Where a message goes to or comes from, in MPI's words.
struct Envelope {
    std::uint32_t partner = UINT32_MAX; // rank of MPI_COMM_WORLD; Partners::unknown
    std::uint32_t communicator = 0;     // as in EventRecord
    std::int32_t tag = 0;
};

} // namespace libprofile
