#include "tools/analysis/findings.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/analysis/loops.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/diagnosis/crowding.hpp"
#include "tools/diagnosis/diagnosis.hpp"
#include "tools/diagnosis/growing_function.hpp"
#include "tools/diagnosis/own_work.hpp"
#include "tools/diagnosis/pursuit.hpp"
#include "tools/diagnosis/wording.hpp"
#include "tools/diagnosis/work_for_others.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace libprofile::tools {

namespace {

constexpr double smallest_phase = 0.05; // of the run: phases with less are not looked at
constexpr std::size_t most_phases = 3;
constexpr double most_of_run = 0.8;
constexpr double same_iterations = 0.6;

class Diagnostician {
  public:
    Diagnostician(const Profile& profile, const DiagnosisChoice& choice)
        : profile_(profile), choice_(choice), threads_(main_threads(profile)), names_(profile), crowds_(crowds(profile)) {}

    DiagnosedRun run() {
        result_.least = choice_.least;
        for (const Location* location : threads_)
            if (location != nullptr) result_.run_ns = std::max(result_.run_ns, static_cast<double>(location->wall_ns));
        if (result_.run_ns == 0) {
            result_.untold.push_back("no rank has data");
            return std::move(result_);
        }
        const std::vector<std::uint32_t> phases = chosen_phases();
        several_phases_ = phases.size() > 1;
        for (const std::uint32_t phase : phases) look_at_phase(phase);
        if (phases.empty()) result_.untold.push_back("the profile has no iterations, so what changes over time was not looked for");
        // Ranks need not meet in the iterations to wait for each other at the end. If they do, sums over the run promise too much.
        const bool names_ranks = std::any_of(result_.list.begin(), result_.list.end(), [](const Diagnosis& d) { return !d.ranks.empty(); });
        const bool is_told = met_ns_ >= most_of_run * result_.run_ns;
        if (!is_part() && !names_ranks && !is_told) look_at(whole_run_matrix(profile_, threads_));
        tell_unexplained();
        if (!is_part()) add_threads();
        if (!is_part()) add_crowds();
        std::stable_sort(result_.list.begin(), result_.list.end(), [](const Diagnosis& a, const Diagnosis& b) { return a.gain.value > b.gain.value; });
        for (const Diagnosis& d : result_.list) {
            result_.gain_ns += d.gain.value;
            result_.low_ns += d.gain.low;
        }
        // Causes of different phases and of threads may lie in each other; no run gains more than itself.
        result_.gain_ns = std::min(result_.gain_ns, result_.run_ns);
        result_.low_ns = std::min(result_.low_ns, result_.gain_ns);
        if (result_.list.size() > choice_.most) {
            result_.untold.push_back(plural(result_.list.size() - choice_.most, "more cause") + " with less gain; --top N shows more");
            result_.list.resize(choice_.most);
        }
        return std::move(result_);
    }

  private:
    bool is_part() const { return choice_.phase || choice_.iterations.first != 0 || choice_.iterations.last != IterationRange{}.last; }
    double least_sum() const { return choice_.least * result_.run_ns; }

    /// Those with most time, none inside another.
    std::vector<std::uint32_t> chosen_phases() const {
        if (choice_.phase) return {*choice_.phase};
        std::vector<std::uint32_t> chosen;
        std::set<std::uint32_t> taken;
        for (const Trend& trend : trends(profile_, threads_)) {
            if (taken.contains(trend.phase) || chosen.size() == most_phases) continue;
            double longest = 0;
            std::set<std::uint32_t> inside;
            for (const Location* location : threads_) {
                const PhaseData* data = find_phase(location, trend.phase);
                if (data == nullptr) continue;
                longest = std::max(longest, static_cast<double>(data->wall_inclusive_ns));
                for (const PhaseData* inner : phases_inside(*location, *data)) inside.insert(inner->phase);
            }
            const bool has_chosen = std::any_of(chosen.begin(), chosen.end(), [&](std::uint32_t other) { return inside.contains(other); });
            if (longest < smallest_phase * result_.run_ns || has_chosen) continue;
            chosen.push_back(trend.phase);
            taken.merge(inside);
        }
        return chosen;
    }

    void look_at_phase(std::uint32_t phase) {
        const IterationMatrix matrix = iteration_matrix(profile_, threads_, phase, choice_.iterations);
        const std::string name = fmt::format("\"{}\"", printable(profile_.phases[phase].name));
        if (matrix.fewest * 100 < matrix.most * 98 && !choice_.phase) {
            result_.untold.push_back(fmt::format("ranks made {} to {} iterations of {}, so their iterations were not compared; ranks were, over the whole run",
                                                 count(static_cast<double>(matrix.fewest)), count(static_cast<double>(matrix.most)), name));
            return;
        }
        if (matrix.fewest != matrix.most)
            result_.untold.push_back(fmt::format("ranks made {} to {} iterations of {}; the first {} were compared", count(static_cast<double>(matrix.fewest)),
                                                 count(static_cast<double>(matrix.most)), name, count(static_cast<double>(matrix.fewest))));
        if (const std::uint64_t missed = missed_of(phase); missed != 0)
            result_.untold.push_back(fmt::format("{} of {} before it was found {} in no iteration: iteration 1 here is number {} of the program",
                                                 missed == 1 ? "a pass" : count(static_cast<double>(missed)) + " passes", name, missed == 1 ? "is" : "are",
                                                 count(static_cast<double>(missed + 1))));
        if (matrix.iterations() == 0) result_.untold.push_back(fmt::format("nothing was looked at: not all ranks made these iterations of {}", name));
        if (matrix.iterations() != 0 && matrix.iterations() < 10)
            result_.untold.push_back("fewer than 10 iterations do not tell what changes over time; ranks were compared");
        const double ns = describe(matrix);
        if (ranks_meet(matrix)) met_ns_ += ns;
        look_at(matrix);
    }

    /// Passes of a loop before its first iteration.
    std::uint64_t missed_of(std::uint32_t phase) const {
        std::uint64_t most = 0;
        for (const LoopOfRanks& found : loops_of(profile_))
            if (profile_.phases[phase].is_called(found.loop->phase)) most = std::max(most, found.missed);
        return most;
    }

    /// Communication that is always there has no cause that could be seen; that it is there can.
    void tell_unexplained() {
        double least = result_.run_ns; // on the rank with least
        for (const Location* location : threads_) {
            if (location == nullptr) continue;
            const MetricValues values = totals(profile_, *location);
            const auto at = [&](CatalogueId id) { return static_cast<double>(values[static_cast<std::size_t>(id)]); };
            const auto told = told_.find(location->rank);
            least = std::min(least, at(CatalogueId::Mpi) - at(CatalogueId::MpiInitExit) - own_work_in_mpi(profile_, *location) -
                                        (told == told_.end() ? 0 : told->second.sum()));
        }
        if (!is_part() && least >= 0.05 * result_.run_ns)
            result_.untold.push_back(
                fmt::format("each rank spends {} of the run or more in MPI without a cause that could be told: it communicates so long, or "
                            "ranks wait for each other in turn; libprofile report FOLDER --metric mpi shows where",
                            percent(least / result_.run_ns)));
    }

    /// Without a cause in MPI each rank is shorter there by all that the run gains.
    void tell_all(const IterationMatrix& matrix, double gain) {
        for (const Location* location : matrix.locations) told_[location->rank].by_order += gain;
    }
    /// Without excess a rank waits shorter by what the run gains beyond the rank's own part.
    void tell_waiting(const IterationMatrix& matrix, const std::vector<RankExcess>& parts, double gain, double seen) {
        for (const Location* location : matrix.locations) told_[location->rank].by_excess += gain;
        for (const RankExcess& part : parts) told_[matrix.locations[part.rank]->rank].by_excess -= seen * std::accumulate(part.ns.begin(), part.ns.end(), 0.0);
    }
    static bool is_order(Cause cause) {
        return cause == Cause::Serialisation || cause == Cause::LateSender || cause == Cause::LateReceiver || cause == Cause::LateRoot ||
               cause == Cause::StageImbalance;
    }

    void look_at(const IterationMatrix& matrix) {
        if (matrix.ranks() == 0 || matrix.iterations() == 0) return;
        std::vector<const Suspect*> told;
        std::vector<std::size_t> at; // position in the list, by `told`
        std::vector<Suspect> suspects = find_suspects(matrix, least_sum());
        grow_by_function(profile_, matrix, names_, least_sum(), suspects);
        for (const Suspect& suspect : suspects) take(matrix, suspect, suspects, told, at);
        double told_ns = 0;
        for (const Suspect& suspect : suspects) told_ns += suspect.kind == SuspectKind::Communication ? suspect.gain.value : 0;
        if (const auto loss = order_loss(profile_, matrix, names_, least_sum(), told_ns)) {
            Diagnosis d = begin(matrix, loss->cause, loss->gain);
            for (const std::size_t row : loss->cause == Cause::LateRoot ? loss->root : loss->late) d.ranks.push_back(matrix.locations[row]->rank);
            if (loss->cause == Cause::Serialisation) d.ranks.clear();
            if (loss->cause == Cause::LateRoot && is_told_root(matrix, d, *loss)) return;
            word_order(profile_, matrix, *loss, names_, d);
            tell_all(matrix, d.gain.value);
            add(std::move(d));
        }
    }

    /// What a late root does before its call is little in jitter, but holds up all others: told as the work of that rank, if its work is longer.
    bool is_told_root(const IterationMatrix& matrix, Diagnosis& d, const OrderLoss& loss) {
        const bool is_known = std::any_of(result_.list.begin(), result_.list.end(), [&](const Diagnosis& other) {
            return other.cause == Cause::LateRoot && other.ranks == d.ranks && other.phase == d.phase;
        });
        if (is_known) return true;
        if (matrix.is_whole_run) return false;
        Suspect root;
        root.rows = {loss.root.at(0)};
        root.gain = loss.gain;
        for (std::size_t i = 0; i < matrix.iterations(); ++i) {
            double others = std::numeric_limits<double>::max();
            for (std::size_t r = 0; r < matrix.ranks(); ++r)
                if (r != root.rows[0]) others = std::min(others, matrix.local(r, i));
            root.pattern.excess.push_back(static_cast<float>(std::max(0.0, matrix.local(root.rows[0], i) - others)));
            root.pattern.sum += root.pattern.excess.back();
        }
        root.parts = {{root.rows[0], root.pattern.excess}};
        const Evidence evidence = evidence_of(profile_, matrix, root, names_, {});
        if (cause_of(root, evidence) != Cause::LateRoot || evidence.excess() <= 0) return false;
        judge(evidence, false, d);
        tell_all(matrix, d.gain.value);
        word_suspect(profile_, matrix, root, evidence, names_, crowds_, d);
        add(std::move(d));
        return true;
    }

    Diagnosis begin(const IterationMatrix& matrix, Cause cause, const Gain& gain) const {
        Diagnosis d;
        d.cause = cause;
        d.gain = gain;
        d.phase = matrix.phase;
        d.is_whole_run = matrix.is_whole_run;
        return d;
    }

    void take(const IterationMatrix& matrix, const Suspect& suspect, const std::vector<Suspect>& all, std::vector<const Suspect*>& told,
              std::vector<std::size_t>& at) {
        const Evidence evidence = evidence_of(profile_, matrix, suspect, names_, all);
        Diagnosis d = begin(matrix, cause_of(suspect, evidence), suspect.gain);
        d.pattern = suspect.pattern.kind;
        d.period = suspect.pattern.period;
        d.moves = suspect.kind == SuspectKind::MovingRank || suspect.kind == SuspectKind::ScatteredRank;
        const bool is_all = suspect.kind == SuspectKind::AllRanks || suspect.kind == SuspectKind::Communication;
        for (const std::size_t row : suspect.rows)
            if (!is_all) d.ranks.push_back(matrix.locations[row]->rank);
        if (suspect.kind == SuspectKind::UnevenRanks) d.ranks.resize(std::max<std::size_t>(1, d.ranks.size() / 2));
        std::sort(d.ranks.begin(), d.ranks.end());
        if (d.cause == Cause::OffProcessor && crowd_of(crowds_, d.ranks, profile_) != nullptr) d.cause = Cause::Oversubscribed;
        if (suspect.pattern.kind != PatternKind::Steady && !matrix.is_whole_run)
            for (std::size_t i = 0; i < matrix.iterations(); ++i)
                if (suspect.pattern.excess[i] > 0) d.iterations.push_back(matrix.first + i);
        // A root that is late before its collective call holds up all others: nothing of its work is hidden behind theirs. Nor is what a rank does with
        // that which the others sent.
        if ((d.cause == Cause::LateRoot || d.cause == Cause::Serialisation) && !evidence.waits.empty()) {
            const double held_up = std::min(evidence.waits[0].difference(), evidence.excess()) *
                                   static_cast<double>(d.iterations.empty() ? matrix.iterations() : d.iterations.size());
            d.gain.value = std::max(d.gain.value, held_up);
            d.gain.high = std::max(d.gain.high, held_up);
        }
        const double in_all = d.gain.value;
        if (d.cause == Cause::Serialisation) d.gain = gain_if_shared_out(d.gain, matrix.ranks());
        judge(evidence, is_all, d);
        // What was found before may be all that these iterations have more than others.
        // Nor do other functions have to stay as long while one grows: processors are a few percent faster now and then.
        constexpr double few_percent = 0.03;
        const bool is_by_samples = suspect.function.node != 0 && evidence.expected - evidence.excess() <= few_percent * evidence.local_there;
        const double seen = suspect.kind == SuspectKind::Communication ? evidence.mpi : is_by_samples ? evidence.expected : evidence.excess();
        if (d.gain.value < least_sum() || (!matrix.is_whole_run && seen < 0.5 * evidence.expected)) return;
        if (suspect.kind == SuspectKind::Communication || is_order(d.cause))
            tell_all(matrix, d.gain.value);
        else
            tell_waiting(matrix, suspect.parts, d.gain.value, d.gain.value / in_all);
        word_suspect(profile_, matrix, suspect, evidence, names_, crowds_, d);
        // What is left of something that was found already.
        for (std::size_t k = 0; k < told.size(); ++k) {
            Diagnosis& before = result_.list[at[k]];
            if (before.cause != d.cause || before.ranks != d.ranks || overlap(told[k]->pattern, suspect.pattern) < same_iterations) continue;
            if (!before.function.empty() && !d.function.empty() && before.function != d.function) continue; // that is another matter
            before.gain = {before.gain.value + d.gain.value, before.gain.low + d.gain.low, before.gain.high + d.gain.high};
            return;
        }
        told.push_back(&suspect);
        at.push_back(result_.list.size());
        add(std::move(d));
    }

    /// Gain and confidence by what the others were seen waiting.
    static void judge(const Evidence& evidence, bool is_all, Diagnosis& d) {
        if (is_all) {
            const bool is_counted = d.cause != Cause::SlowCommunication || evidence.calls_here + evidence.calls_there > 0;
            d.confidence = is_counted ? Confidence::Medium : Confidence::Low;
            d.gain.low = 0; // how much of what all ranks do is needed is not known
            return;
        }
        d.confidence = evidence.coupling >= 0.75 && d.cause != Cause::Noise ? Confidence::High
                       : evidence.coupling >= 0.5                           ? Confidence::Medium
                                                                            : Confidence::Low;
        if (evidence.coupling >= 0.5) return;
        d.gain.low = 0;
        d.gain.value *= evidence.coupling;
    }

    void add(Diagnosis d) {
        if (several_phases_ && !d.is_whole_run) d.sentence += fmt::format(" (phase \"{}\")", printable(profile_.phases[d.phase].name));
        result_.list.push_back(std::move(d));
    }

    void add_threads() {
        for (const ThreadLoss& loss : thread_losses(profile_, least_sum())) {
            // A rank that others wait for may be long because of its threads; the time is lost once.
            const bool is_named = std::any_of(result_.list.begin(), result_.list.end(), [&](const Diagnosis& d) {
                return d.ranks == std::vector<std::uint32_t>{loss.rank} && d.pattern == PatternKind::Steady && d.gain.value >= 0.5 * loss.gain.value;
            });
            if (is_named) continue;
            Diagnosis d;
            d.cause = loss.cause;
            d.gain = loss.gain;
            d.is_whole_run = true;
            d.confidence = loss.cause == Cause::SerialThreads ? Confidence::Low : Confidence::Medium;
            d.ranks = {loss.rank};
            word_threads(profile_, loss, d);
            add(std::move(d));
        }
    }

    /// Ranks that all stand still for the same share of the time: none is longer than the others.
    void add_crowds() {
        for (const Crowd& crowd : crowds_) {
            const bool is_told = std::any_of(result_.list.begin(), result_.list.end(), [&](const Diagnosis& d) {
                return d.cause == Cause::Oversubscribed && crowd_of(crowds_, d.ranks, profile_) == &crowd;
            });
            const auto [rank, gain] = gain_without_crowd(profile_, crowd);
            if (is_told || gain.value < least_sum()) continue;
            Diagnosis d;
            d.cause = Cause::Oversubscribed;
            d.gain = gain;
            d.is_whole_run = true;
            d.ranks = crowd.ranks;
            word_crowd(crowd, rank, gain.high, d);
            add(std::move(d));
        }
    }

    /// @return the time of the iterations on the rank with most
    double describe(const IterationMatrix& matrix) {
        double longest = 0;
        for (const Location* location : matrix.locations) {
            const PhaseData& data = *find_phase(location, matrix.phase);
            double sum = 0;
            for (std::size_t i = 0; i < matrix.iterations(); ++i) sum += static_cast<double>(data.iteration_ns[matrix.first + i]);
            longest = std::max(longest, sum);
        }
        result_.scope.push_back(fmt::format("{} of \"{}\", {} of the run", plural(matrix.iterations(), "iteration"),
                                            printable(profile_.phases[matrix.phase].name), percent(std::min(1.0, longest / result_.run_ns))));
        if (matrix.is_estimated) result_.untold.push_back("single iterations were not kept; what changes within a cluster of iterations cannot be seen");
        if (matrix.ranks() == 1) result_.untold.push_back("there are data of one rank only, so ranks could not be compared");
        return longest;
    }

    const Profile& profile_;
    const DiagnosisChoice& choice_;
    struct ToldWaiting {
        double by_order = 0, by_excess = 0; // ns
        double sum() const { return by_order + std::max(0.0, by_excess); }
    };

    std::vector<const Location*> threads_;
    std::map<std::uint32_t, ToldWaiting> told_; // in MPI, by rank
    NamedSpots names_;
    std::vector<Crowd> crowds_;
    DiagnosedRun result_;
    bool several_phases_ = false;
    double met_ns_ = 0; // of iterations in which ranks meet
};

} // namespace

const char* confidence_name(Confidence confidence) {
    constexpr const char* names[] = {"low", "medium", "high"};
    return names[static_cast<std::size_t>(confidence)];
}

DiagnosedRun diagnose(const Profile& profile, const DiagnosisChoice& choice) { return Diagnostician(profile, choice).run(); }

} // namespace libprofile::tools
