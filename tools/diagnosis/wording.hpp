// The sentences of a diagnosis.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only. Text of the profile is made printable.
#pragma once

#include "tools/diagnosis/diagnosis.hpp"
#include "tools/diagnosis/order_loss.hpp"
#include "tools/diagnosis/thread_loss.hpp"

namespace libprofile::tools {

/// Fills in function, call path, sentence, evidence and next of a diagnosis that has the rest.
void word_suspect(const Profile& profile, const IterationMatrix& matrix, const Suspect& suspect, const Evidence& evidence, const NamedSpots& names,
                  Diagnosis& diagnosis);
void word_order(const Profile& profile, const IterationMatrix& matrix, const OrderLoss& loss, const NamedSpots& names, Diagnosis& diagnosis);
void word_threads(const Profile& profile, const ThreadLoss& loss, Diagnosis& diagnosis);

} // namespace libprofile::tools
