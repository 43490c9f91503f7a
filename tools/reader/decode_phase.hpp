// Decodes Phase and Cells blocks, and puts the cells into their phases.
// Contract: as decode.hpp. Each returns false when the payload is malformed.
#pragma once

#include "tools/reader/raw_records.hpp"

namespace libprofile::tools {

bool decode_phase(Decoder d, RawRank& out);
bool decode_cells(Decoder d, RawRank& out);
bool decode_inside(Decoder d, RawRank& out);
bool decode_begins(Decoder d, RawRank& out);

/// The runs of equal cluster numbers and the times of the iterations.
bool decode_iterations(Decoder& d, PhaseData& data);

/// The values of a PhaseRecord. Empty if they are impossible.
bool take_phase_record(const PhaseRecord& r, RawPhase& phase);

/// Whether values are the phase's; of each metric only once.
bool belongs_to(RawPhase& phase, const RawCells& cells);

/// Moves the cells of all ranks into their phases, sorted; cells that do not fit or are missing are noted as damages.
void join_cells(RawFile& file);

} // namespace libprofile::tools
