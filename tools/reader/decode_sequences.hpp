// Reads Sequences blocks (format/sequences.hpp).
// Contract: as for decode.hpp: false or nullopt for bytes that make no sense; throws std::bad_alloc only.
#pragma once

#include "tools/reader/raw_records.hpp"

#include <optional>

namespace libprofile::tools {

bool decode_sequences(Decoder d, RawRank& out);

/// The numbers of the first iterations, which must be as many as the phase has iterations, or fewer: a few bytes may code any number of them.
std::optional<std::vector<std::uint32_t>> decode_sequence_numbers(const RawSequences& sequences, std::uint64_t iterations);

} // namespace libprofile::tools
