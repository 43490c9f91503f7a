// Reads Machine blocks (format/machine.hpp).
// Contract: as for decode.hpp: false for bytes that make no sense; throws std::bad_alloc only.
#pragma once

#include "format/codec.hpp"
#include "tools/reader/machine_tree.hpp"

#include <optional>

namespace libprofile::tools {

/// `out` must be empty: a rank has one block.
bool decode_machine(Decoder d, std::optional<MachineTree>& out);

} // namespace libprofile::tools
