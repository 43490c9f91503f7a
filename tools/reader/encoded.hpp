// What the tools write in the code of the profile file.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc and what `write` throws.
#pragma once

#include "format/codec.hpp"

#include <functional>
#include <vector>

namespace libprofile::tools {

/// @param write is called twice: to measure, and to write
inline std::vector<unsigned char> encoded(const std::function<void(Encoder&)>& write) {
    Encoder measure(nullptr, 0);
    write(measure);
    std::vector<unsigned char> bytes(measure.size());
    Encoder encoder(bytes.data(), bytes.size());
    write(encoder);
    return bytes;
}

} // namespace libprofile::tools
