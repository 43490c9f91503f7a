#include "tools/diagnosis/cause.hpp"

#include "tools/diagnosis/work_for_others.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

constexpr double most_of_it = 0.5;
constexpr double likelier = 1.5;       // a slow processor than more work in one function
constexpr double rules_out_slow = 0.1; // odds of a slow processor, or less
constexpr double rules_out_work = 20;  // or more: work in one function

/// The function with most of the excess has more of it than its usual share, beyond its error: work, and not a slow processor.
bool is_work_of_one_function(const Evidence& e) {
    const HotFunction& f = e.function;
    if (f.node == 0 || e.excess() <= 0) return false;
    const double usual = f.usual <= 0 ? 0 : f.there / f.usual * e.excess();
    return f.difference() - usual > 1.5 * f.error + 0.1 * e.excess();
}

/// All functions are longer by one factor. Counted instructions tell more work from a slow processor, which samples may leave open.
bool has_one_factor(const Evidence& e) {
    constexpr double as_many = 0.25; // of the factor
    if (!e.instructions_known()) return e.odds_of_one_factor >= likelier;
    return e.odds_of_one_factor >= rules_out_slow && std::abs(e.instructions_here / e.instructions_there - 1) <= as_many * (e.factor - 1);
}

bool is_of_few_ranks_always(const Suspect& suspect) { return suspect.pattern.kind == PatternKind::Steady && suspect.kind == SuspectKind::FewRanks; }

Cause cause_of_ranks(const Suspect& suspect, const Evidence& e) {
    const bool is_scattered =
        suspect.kind == SuspectKind::ScatteredRank || (suspect.kind == SuspectKind::FewRanks && suspect.pattern.kind == PatternKind::Scattered);
    if (is_scattered && !is_work_of_one_function(e)) return Cause::Noise;
    if (suspect.pattern.kind == PatternKind::WarmUp) return Cause::WarmUp;
    if (e.is_root) return Cause::LateRoot;
    return is_of_few_ranks_always(suspect) && has_one_factor(e) && e.same_calls() ? Cause::SlowMachine : Cause::Imbalance;
}

/// There are more bytes, and the additional time is not out of proportion to them. A larger message may need another protocol. Of a call that is made
/// here only, the others tell no proportion.
bool do_bytes_account_for(const Evidence& e) {
    constexpr double protocol = 4;
    if (!e.has_more_bytes()) return false;
    const bool is_new = e.bytes_there <= 0 || (!e.mpi_of_all.empty() && e.mpi_of_all[0].there <= 0);
    return is_new || std::min(e.mpi, e.expected) <= protocol * e.time_of_more_bytes();
}

Cause cause_of_all(const Suspect& suspect) {
    switch (suspect.pattern.kind) {
    case PatternKind::Growing: return Cause::GrowingWork;
    case PatternKind::Shrinking: return Cause::ShrinkingWork;
    case PatternKind::Periodic: return Cause::PeriodicWork;
    case PatternKind::WarmUp: return Cause::WarmUp;
    case PatternKind::Scattered: return Cause::OccasionalWork;
    case PatternKind::Steady:
    case PatternKind::Range: break;
    }
    return Cause::ChangedWork;
}

} // namespace

const char* cause_name(Cause cause) {
    constexpr const char* names[] = {"imbalance",          "stage_imbalance", "serialisation",  "late_sender",    "late_receiver",  "late_root",
                                     "slow_machine",       "noise",           "growing_work",   "shrinking_work", "changed_work",   "periodic_work",
                                     "occasional_work",    "warm_up",         "input_output",   "off_processor",  "oversubscribed", "communication_volume",
                                     "slow_communication", "unequal_threads", "serial_threads", "thread_locks"};
    return names[static_cast<std::size_t>(cause)];
}

Cause cause_of(const Suspect& suspect, const Evidence& e) {
    if (suspect.kind == SuspectKind::Communication) return do_bytes_account_for(e) ? Cause::CommunicationVolume : Cause::SlowCommunication;
    if (works_for_others(suspect, e)) return Cause::Serialisation;
    const double excess = e.excess();
    if (excess > 0) {
        if (e.io > most_of_it * excess) return Cause::InputOutput;
        if (e.off_cpu > most_of_it * excess) return e.files.is_told ? Cause::InputOutput : Cause::OffProcessor;
        if (e.threads > most_of_it * excess) return Cause::UnequalThreads;
    }
    return suspect.kind == SuspectKind::AllRanks ? cause_of_all(suspect) : cause_of_ranks(suspect, e);
}

std::optional<Cause> alternative_to(Cause cause, const Suspect& suspect, const Evidence& e) {
    if (e.instructions_known() || !is_of_few_ranks_always(suspect) || !e.same_calls() || !e.is_mostly_computing()) return std::nullopt;
    if (cause == Cause::Imbalance && e.odds_of_one_factor > rules_out_slow && !is_work_of_one_function(e)) return Cause::SlowMachine;
    if (cause == Cause::SlowMachine && e.odds_of_one_factor < rules_out_work) return Cause::Imbalance;
    return std::nullopt;
}

} // namespace libprofile::tools
