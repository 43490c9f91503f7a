// Iterations that take longer than others on all ranks at the same time: by what ranks do themselves, or in communication.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/suspect.hpp"

#include <optional>
#include <vector>

namespace libprofile::tools {

/// What half of the ranks or more do themselves. @param least_sum ns of the run
std::optional<Suspect> common_suspect(const RunModel& model, double least_sum);

/// The time in MPI of the rank that waits least: what is above its usual level is no waiting for another rank's work.
std::vector<Suspect> communication_suspects(const IterationMatrix& matrix, const RunModel& model, double least_sum);

} // namespace libprofile::tools
