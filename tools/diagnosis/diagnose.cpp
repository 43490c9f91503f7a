#include "tools/analysis/findings.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/diagnosis/diagnosis.hpp"
#include "tools/diagnosis/pursuit.hpp"
#include "tools/diagnosis/wording.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace libprofile::tools {

namespace {

constexpr double smallest_phase = 0.05; // of the run: phases with less are not looked at
constexpr std::size_t most_phases = 3;
constexpr double same_iterations = 0.6;

class Diagnostician {
  public:
    Diagnostician(const Profile& profile, const DiagnosisChoice& choice)
        : profile_(profile), choice_(choice), threads_(main_threads(profile)), names_(profile) {}

    DiagnosedRun run() {
        for (const Location* location : threads_)
            if (location != nullptr) result_.run_ns = std::max(result_.run_ns, static_cast<double>(location->wall_ns));
        if (result_.run_ns == 0) {
            result_.untold.push_back("no rank has data");
            return std::move(result_);
        }
        const std::vector<std::uint32_t> phases = chosen_phases();
        for (const std::uint32_t phase : phases) look_at(iteration_matrix(profile_, threads_, phase, choice_.iterations));
        if (phases.empty()) {
            result_.untold.push_back("the profile has no iterations, so ranks were compared over the whole run, and what changes over time was not looked for");
            look_at(whole_run_matrix(profile_, threads_));
        }
        if (!is_part()) add_threads();
        std::stable_sort(result_.list.begin(), result_.list.end(), [](const Diagnosis& a, const Diagnosis& b) { return a.gain.value > b.gain.value; });
        if (result_.list.size() > choice_.most) result_.list.resize(choice_.most);
        result_.gain_ns = std::min(result_.gain_ns, result_.run_ns);
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

    void look_at(const IterationMatrix& matrix) {
        if (matrix.ranks() == 0 || matrix.iterations() == 0) return;
        describe(matrix);
        std::vector<const Suspect*> told;
        std::vector<std::size_t> at; // position in the list, by `told`
        const std::vector<Suspect> suspects = find_suspects(matrix, least_sum());
        for (const Suspect& suspect : suspects) take(matrix, suspect, told, at);
        double told_ns = 0;
        for (const Suspect& suspect : suspects) told_ns += suspect.kind == SuspectKind::Communication ? suspect.gain.value : 0;
        if (const auto loss = order_loss(profile_, matrix, names_, least_sum(), told_ns)) {
            Diagnosis d = begin(matrix, loss->cause, loss->gain);
            for (const std::size_t row : loss->cause == Cause::LateRoot ? loss->root : loss->late) d.ranks.push_back(matrix.locations[row]->rank);
            if (loss->cause == Cause::Serialisation) d.ranks.clear();
            word_order(profile_, matrix, *loss, names_, d);
            add(std::move(d));
        }
    }

    Diagnosis begin(const IterationMatrix& matrix, Cause cause, const Gain& gain) const {
        Diagnosis d;
        d.cause = cause;
        d.gain = gain;
        d.phase = matrix.phase;
        d.is_whole_run = matrix.is_whole_run;
        return d;
    }

    void take(const IterationMatrix& matrix, const Suspect& suspect, std::vector<const Suspect*>& told, std::vector<std::size_t>& at) {
        const Evidence evidence = evidence_of(profile_, matrix, suspect, names_);
        Diagnosis d = begin(matrix, cause_of(suspect, evidence), suspect.gain);
        d.pattern = suspect.pattern.kind;
        d.period = suspect.pattern.period;
        d.moves = suspect.kind == SuspectKind::MovingRank || suspect.kind == SuspectKind::ScatteredRank;
        const bool is_all = suspect.kind == SuspectKind::AllRanks || suspect.kind == SuspectKind::Communication;
        for (const std::size_t row : suspect.rows)
            if (!is_all) d.ranks.push_back(matrix.locations[row]->rank);
        if (suspect.kind == SuspectKind::UnevenRanks) d.ranks.resize(std::max<std::size_t>(1, d.ranks.size() / 2));
        std::sort(d.ranks.begin(), d.ranks.end());
        if (suspect.pattern.kind != PatternKind::Steady && !matrix.is_whole_run)
            for (std::size_t i = 0; i < matrix.iterations(); ++i)
                if (suspect.pattern.excess[i] > 0) d.iterations.push_back(matrix.first + i);
        judge(evidence, is_all, d);
        // What was found before may be all that these iterations have more than others.
        const double seen = suspect.kind == SuspectKind::Communication ? evidence.mpi : evidence.excess();
        if (d.gain.value < least_sum() || (!matrix.is_whole_run && seen < 0.5 * evidence.expected)) return;
        // What is left of something that was found already.
        for (std::size_t k = 0; k < told.size(); ++k) {
            Diagnosis& before = result_.list[at[k]];
            if (before.cause != d.cause || before.ranks != d.ranks || overlap(told[k]->pattern, suspect.pattern) < same_iterations) continue;
            before.gain = {before.gain.value + d.gain.value, before.gain.low + d.gain.low, before.gain.high + d.gain.high};
            result_.gain_ns += d.gain.value;
            return;
        }
        word_suspect(profile_, matrix, suspect, evidence, names_, d);
        told.push_back(&suspect);
        at.push_back(result_.list.size());
        add(std::move(d));
    }

    /// Gain and confidence by what the others were seen waiting.
    static void judge(const Evidence& evidence, bool is_all, Diagnosis& d) {
        if (is_all) {
            d.confidence = Confidence::High;
            d.gain.low = 0; // how much of what all ranks do is needed is not known
            return;
        }
        d.confidence = evidence.coupling >= 0.75 ? Confidence::High : evidence.coupling >= 0.5 ? Confidence::Medium : Confidence::Low;
        if (evidence.coupling >= 0.5) return;
        d.gain.low = 0;
        d.gain.value *= evidence.coupling;
    }

    void add(Diagnosis d) {
        result_.gain_ns += d.gain.value;
        result_.list.push_back(std::move(d));
    }

    void add_threads() {
        for (const ThreadLoss& loss : thread_losses(profile_, least_sum())) {
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

    void describe(const IterationMatrix& matrix) {
        if (matrix.is_whole_run) return;
        double longest = 0;
        for (const Location* location : matrix.locations) {
            const PhaseData& data = *find_phase(location, matrix.phase);
            double sum = 0;
            for (std::size_t i = 0; i < matrix.iterations(); ++i) sum += static_cast<double>(data.iteration_ns[matrix.first + i]);
            longest = std::max(longest, sum);
        }
        result_.scope.push_back(fmt::format("{} of \"{}\", {} of the run", plural(matrix.iterations(), "iteration"),
                                            printable(profile_.phases[matrix.phase].name), percent(std::min(1.0, longest / result_.run_ns))));
        if (!matrix.left_out.empty()) {
            const std::vector<std::uint64_t> left_out(matrix.left_out.begin(), matrix.left_out.end());
            result_.untold.push_back(fmt::format("{} made fewer than half of the others' iterations and {} not compared", rank_words(left_out),
                                                 left_out.size() == 1 ? "was" : "were"));
        }
        if (matrix.is_estimated) result_.untold.push_back("single iterations were not kept; what changes within a cluster of iterations cannot be seen");
        if (matrix.ranks() == 1) result_.untold.push_back("there are data of one rank only, so ranks could not be compared");
    }

    const Profile& profile_;
    const DiagnosisChoice& choice_;
    std::vector<const Location*> threads_;
    NamedSpots names_;
    DiagnosedRun result_;
};

} // namespace

const char* confidence_name(Confidence confidence) {
    constexpr const char* names[] = {"low", "medium", "high"};
    return names[static_cast<std::size_t>(confidence)];
}

DiagnosedRun diagnose(const Profile& profile, const DiagnosisChoice& choice) { return Diagnostician(profile, choice).run(); }

} // namespace libprofile::tools
