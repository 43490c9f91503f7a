#include "tools/evaluation/evaluation.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

namespace libprofile::tools {

namespace {

/// A replay does the same work every time, so the least of some is free of what else the machine did.
constexpr int timed_replays = 3;

using Nanoseconds = std::vector<double>;

std::unique_ptr<Method> replay(const MethodFactory& make, const Recording& recording, std::size_t location, Nanoseconds& least) {
    std::unique_ptr<Method> method = make(recording, location);
    const std::vector<RecordedIteration>& iterations = recording.locations[location].iterations;
    least.resize(iterations.size(), std::numeric_limits<double>::max());
    for (std::size_t i = 0; i < iterations.size(); ++i) {
        const auto begin = std::chrono::steady_clock::now();
        method->add(iterations[i]);
        const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
        least[i] = std::min(least[i], time.count());
    }
    method->finish();
    return method;
}

void add(MethodMemory& sum, const MethodMemory& more) {
    sum.running_event_bytes += more.running_event_bytes;
    sum.running_sampled_bytes += more.running_sampled_bytes;
    sum.stored_event_bytes += more.stored_event_bytes;
    sum.stored_sampled_bytes += more.stored_sampled_bytes;
}

Phantoms phantoms_of(Method& method, const Recording& recording, std::size_t location) {
    Phantoms sum;
    const std::vector<RecordedIteration>& iterations = recording.locations[location].iterations;
    for (std::size_t i = 0; i < iterations.size(); ++i) count_phantoms(recording.paths, iterations[i], method.cells_of(i), sum);
    return sum;
}

void add(Phantoms& sum, const Phantoms& more) {
    sum.pairs += more.pairs;
    sum.phantoms += more.phantoms;
    sum.mpi_pairs += more.mpi_pairs;
    sum.mpi_phantoms += more.mpi_phantoms;
}

/// Scores one candidate, location by location.
class Scoring {
  public:
    Scoring(const Recording& recording, const EvaluationSettings& settings) : recording_(recording), settings_(settings), whole_(recording.iterations()) {
        score_.series.assign(settings.series.size(), LocationSeries(recording.locations.size()));
    }

    void run(const Candidate& candidate, std::size_t l) {
        const RecordedLocation& location = recording_.locations[l];
        Nanoseconds times;
        std::unique_ptr<Method> method;
        for (int n = 0; n < timed_replays; ++n) {
            method.reset(); // so that the next one can use its memory
            method = replay(candidate.make, recording_, l, times);
        }
        book_times(location, times);
        score_.name = method->name();
        if (const std::string remark = method->remark();
            !remark.empty() && std::find(score_.remarks.begin(), score_.remarks.end(), remark) == score_.remarks.end())
            score_.remarks.push_back(remark);
        tools::add(score_.memory, method->memory());
        tools::add(score_.phantoms, phantoms_of(*method, recording_, l));
        const CellScores cells(recording_.paths, location);
        for (std::size_t i = 0; i < location.iterations.size(); ++i) {
            const RecordedIteration& original = location.iterations[i];
            cells.add(original, method->cells_of(i), score_.cells);
            const std::vector<double> whole = method->whole_of(i);
            whole_.add(i, original.condensed.values, whole);
            for (std::size_t s = 0; s < settings_.series.size(); ++s) score_.series[s][l].push_back(whole[settings_.series[s]]);
        }
        if (!candidate.without_equivalence) return;
        method.reset();
        method = replay(candidate.without_equivalence, recording_, l, times);
        Phantoms& sum = score_.phantoms_without_equivalence ? *score_.phantoms_without_equivalence : score_.phantoms_without_equivalence.emplace();
        tools::add(sum, phantoms_of(*method, recording_, l));
    }

    Score result() {
        score_.whole = whole_.result();
        score_.time.mean_ns = iterations_ == 0 ? 0 : adding_ns_ / static_cast<double>(iterations_);
        score_.time.mean_share = wall_ns_ == 0 ? 0 : adding_ns_ / wall_ns_;
        return std::move(score_);
    }

  private:
    void book_times(const RecordedLocation& location, const Nanoseconds& times) {
        for (std::size_t i = 0; i < times.size(); ++i) {
            const auto wall = static_cast<double>(location.iterations[i].wall_ns);
            adding_ns_ += times[i];
            wall_ns_ += wall;
            ++iterations_;
            score_.time.largest_ns = std::max(score_.time.largest_ns, times[i]);
            if (wall != 0) score_.time.largest_share = std::max(score_.time.largest_share, times[i] / wall);
        }
    }

    const Recording& recording_;
    const EvaluationSettings& settings_;
    Score score_;
    WholeScores whole_;
    double adding_ns_ = 0;
    double wall_ns_ = 0;
    std::uint64_t iterations_ = 0;
};

} // namespace

MethodMemory memory_of_recording(const PathKinds& paths, const RecordedLocation& location) {
    MemoryCount count(paths);
    for (std::size_t i = 0; i < location.iterations.size(); ++i) count.add_profile(location.iterations[i].cells, 1, location.strong_class[i]);
    std::vector<std::uint32_t> own(location.iterations.size());
    std::iota(own.begin(), own.end(), 0u);
    count.add_membership(own, 4 * own.size());
    return count.result();
}

Evaluation evaluate(const Recording& recording, const std::vector<Candidate>& candidates, const EvaluationSettings& settings) {
    Evaluation result;
    result.characteristics = characterise(recording);
    for (const RecordedLocation& location : recording.locations) add(result.full, memory_of_recording(recording.paths, location));
    result.series.resize(settings.series.size());
    for (std::size_t s = 0; s < settings.series.size(); ++s)
        for (const RecordedLocation& location : recording.locations) {
            std::vector<double>& line = result.series[s].emplace_back();
            for (const RecordedIteration& iteration : location.iterations) line.push_back(static_cast<double>(iteration.condensed.values[settings.series[s]]));
        }
    const std::size_t steps = candidates.size() * recording.locations.size();
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        Scoring scoring(recording, settings);
        for (std::size_t l = 0; l < recording.locations.size(); ++l) {
            if (settings.progress)
                settings.progress(candidates[c].label + ", rank " + std::to_string(recording.locations[l].rank),
                                  static_cast<double>(c * recording.locations.size() + l) / static_cast<double>(steps));
            scoring.run(candidates[c], l);
        }
        result.scores.push_back(scoring.result());
        result.scores.back().label = candidates[c].label;
        result.scores.back().clusters = candidates[c].clusters;
        result.scores.back().is_reference = candidates[c].is_reference;
    }
    return result;
}

} // namespace libprofile::tools
