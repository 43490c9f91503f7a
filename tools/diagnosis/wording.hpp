// The sentences of a diagnosis.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of the profile is made printable.
#pragma once

#include "tools/diagnosis/crowding.hpp"
#include "tools/diagnosis/diagnosis.hpp"
#include "tools/diagnosis/order_loss.hpp"
#include "tools/diagnosis/thread_loss.hpp"

namespace libprofile::tools {

/// Fills in function, call path, sentence, evidence and next of a diagnosis that has the rest.
void word_suspect(const Profile& profile, const IterationMatrix& matrix, const Suspect& suspect, const Evidence& evidence, const NamedSpots& names,
                  const std::vector<Crowd>& crowded, Diagnosis& diagnosis);
/// @param off_cpu ns: of this rank, over the whole run
void word_crowd(const Crowd& crowd, std::uint32_t rank, double off_cpu, Diagnosis& diagnosis);
void word_order(const Profile& profile, const IterationMatrix& matrix, const OrderLoss& loss, const NamedSpots& names, Diagnosis& diagnosis);
void word_threads(const Profile& profile, const ThreadLoss& loss, Diagnosis& diagnosis);

} // namespace libprofile::tools
