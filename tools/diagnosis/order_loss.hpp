// Time that ranks lose though they have equal work: they do it one after another, or in an order that makes others wait.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
//
// Waiting that nobody's longer work explains: of each MPI function and caller, what a rank spends there beyond the rank that spends least, summed
// up over all of them, less what the iterations' slowest ranks make it wait.
#pragma once

#include "tools/diagnosis/cause.hpp"

#include <optional>
#include <vector>

namespace libprofile::tools {

struct OrderLoss {
    Cause cause = Cause::LateSender;
    Gain gain;
    std::uint32_t spot = 0; // MPI function and caller with most of the waiting
    std::uint32_t path = 0;
    bool is_part = false;           // Serialisation: of a part of the work
    double waiting = 0;             // ns: of the rank that waits most there
    std::vector<std::size_t> waits; // rows of the matrix that wait there
    std::vector<std::size_t> late;  // the others
    std::vector<std::size_t> root;  // of a collective with a root, if it is always the same
};

/// @param least_sum ns of the run  @param told ns that all ranks spend in communication longer than usual: that has another cause
std::optional<OrderLoss> order_loss(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names, double least_sum, double told);

} // namespace libprofile::tools
