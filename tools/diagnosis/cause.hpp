// The causes of lost time that libprofile knows, and which of them a suspect and its evidence speak for.
// Contract: thread-safe (no state); allocates nothing; throws nothing.
#pragma once

#include "tools/diagnosis/evidence.hpp"

#include <optional>

namespace libprofile::tools {

enum class Cause : std::uint8_t {
    Imbalance,           // some ranks have more to do than others
    StageImbalance,      // equal work in sum, unequal between two synchronisations
    Serialisation,       // ranks work one after another, or one for all
    LateSender,          // a receiver waits for a message that the sender could send earlier
    LateReceiver,        // a sender waits for a receive that could be called earlier
    LateRoot,            // ranks wait for the root of a collective
    SlowMachine,         // all functions of a rank are longer by one factor
    Noise,               // single iterations of any rank, without more work
    GrowingWork,         // all ranks, more and more
    ShrinkingWork,       // all ranks, less and less
    ChangedWork,         // all ranks, for some time
    PeriodicWork,        // all ranks, every n-th iteration
    OccasionalWork,      // all ranks, single iterations
    WarmUp,              // the first iterations
    InputOutput,         // files
    OffProcessor,        // ranks without a processor
    Oversubscribed,      // the same, and they have fewer processors than threads
    CommunicationVolume, // more bytes
    SlowCommunication,   // longer for the same bytes
    UnequalThreads,      // threads of a team wait for each other
    SerialThreads,       // worker threads wait while the main thread works alone
    ThreadLocks,         // threads of a team wait for critical sections, locks, or their turn
};

/// Stable key: "imbalance", "late_sender", ...
const char* cause_name(Cause cause);

Cause cause_of(const Suspect& suspect, const Evidence& evidence);

/// What may be the cause as well, by the same evidence: more work and a slow processor look alike if samples are few.
std::optional<Cause> alternative_to(Cause cause, const Suspect& suspect, const Evidence& evidence);

} // namespace libprofile::tools
