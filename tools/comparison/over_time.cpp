#include "tools/comparison/over_time.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/comparison/difference_levels.hpp"
#include "tools/comparison/disturbances.hpp"
#include "tools/comparison/run_dissimilarity.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr double large_alone = 0.03;    // of an iteration: what single runs differ by is often no more than the state of the machine
constexpr double large_repeated = 0.01; // with repetitions of both, which show what chance does
constexpr std::size_t most_changes = 6; // segments that are looked into

/// A run, its iterations, and which of them are the baseline's.
struct AlignedRun {
    const ProfiledRun* source = nullptr;
    RunChoice choice; // of its phase
    OrderedRun ordered;
    RunIterations iterations;
    IterationAlignment alignment; // with the first run; of that itself every iteration with itself
    double outside = 0;           // ns, mean over ranks

    double time_of(std::uint32_t first_runs_iteration) const { return iterations.time[alignment.partner[first_runs_iteration]]; }
};

class OverTimeComparer {
  public:
    OverTimeComparer(const std::vector<ProfiledGroup>& groups, const RunChoice& choice, std::optional<AlignBy> forced)
        : groups_(groups), choice_(choice), forced_(forced) {}

    RunsOverTime compare() {
        read_iterations();
        align();
        RunsOverTime result;
        result.phase = runs_[0][0].choice.phase;
        result.iterations = runs_[0][0].iterations.size();
        for (std::size_t group = 1; group < groups_.size(); ++group) result.groups.push_back(compare_with(group));
        result.remarks = std::move(remarks_);
        return result;
    }

    /// Of the last run with the first one.
    IterationAlignment last_alignment() {
        read_iterations();
        align();
        return std::move(runs_.back().back().alignment);
    }

  private:
    AlignedRun& first() { return runs_[0][0]; }

    /// The phase that is compared, in this run.
    static std::uint32_t phase_of(const Profile& profile, const RunChoice& choice) {
        TableChoice table;
        table.phase = choice.phase;
        table.has_phase = choice.has_phase;
        table.iterations = IterationRange{};
        return phase_of_choice(profile, table);
    }

    void read_iterations() {
        std::vector<Run> frames;
        for (const ProfiledGroup& group : groups_) {
            std::vector<AlignedRun>& runs = runs_.emplace_back();
            for (const ProfiledRun& source : group.runs) {
                AlignedRun& run = runs.emplace_back();
                run.source = &source;
                run.choice = choice_;
                run.choice.phase = source.profile->phases[phase_of(*source.profile, choice_)].name;
                run.choice.has_phase = true;
                run.choice.iterations.reset();
                frames.push_back(run_of(*source.profile, source.place, run.choice));
            }
        }
        std::vector<Run*> all;
        for (Run& frame : frames) all.push_back(&frame);
        remarks_ = unify_runs(all);
        std::size_t next = 0;
        for (std::vector<AlignedRun>& runs : runs_)
            for (AlignedRun& run : runs) {
                const Run& frame = frames[next++];
                remarks_.insert(remarks_.end(), frame.notes.begin(), frame.notes.end());
                read_iterations(frame, run);
            }
    }

    void read_iterations(const Run& frame, AlignedRun& run) {
        const Profile& profile = *run.source->profile;
        std::vector<std::uint32_t> keys;
        for (const std::uint32_t node : frame.node_of_path) keys.push_back(frame.node_of[node]);
        run.ordered = {&profile, phase_of(profile, run.choice), {}};
        std::vector<const Location*>& locations = run.ordered.locations;
        for (const Location* location : main_threads(profile))
            if (location != nullptr && (choice_.ranks.empty() || std::binary_search(choice_.ranks.begin(), choice_.ranks.end(), location->rank)))
                locations.push_back(location);
        run.iterations = run_iterations(profile, locations, run.ordered.phase, keys);
        if (run.iterations.size() == 0) throw ExportError(fmt::format("{} has no iteration that all ranks made", run.source->place));
        for (const Location* location : locations) run.outside += static_cast<double>(location->wall_ns) / static_cast<double>(locations.size());
        run.outside -= std::accumulate(run.iterations.time.begin(), run.iterations.time.end(), 0.0);
        if (run.choice.phase != first().choice.phase)
            remarks_.push_back(fmt::format("the iterations of {} are those of {}, of {} those of {}; --phase chooses another loop", first().source->place,
                                           first().choice.phase, run.source->place, run.choice.phase));
        if (run.iterations.fewest != run.iterations.most)
            remarks_.push_back(fmt::format("{}: ranks made {} to {} iterations; those that all made are compared", run.source->place, run.iterations.fewest,
                                           run.iterations.most));
        if (!run.iterations.is_known)
            remarks_.push_back(fmt::format("{}: the calls of some iterations were not kept, so these are aligned by their place alone", run.source->place));
    }

    void align() {
        const std::size_t n = first().iterations.size();
        first().alignment.partner.resize(n);
        std::iota(first().alignment.partner.begin(), first().alignment.partner.end(), 0u);
        std::vector<AlignedRun*> others;
        for (std::vector<AlignedRun>& runs : runs_)
            for (AlignedRun& run : runs)
                if (&run != &first()) others.push_back(&run);
        in_parallel(others.size(), [&](std::size_t r) { others[r]->alignment = align_iterations(first().iterations, others[r]->iterations, forced_); });
        for (const AlignedRun* other : others)
            if (forced_ && other->alignment.by != *forced_)
                throw FrameError(
                    fmt::format("{} and {} cannot be aligned by {}: they have too many iterations, or nothing of it was counted; leave out --align",
                                first().source->place, other->source->place, align_by_name(*forced_)));
    }

    /// Iterations of the first run that were chosen and that all runs of both groups have.
    std::vector<std::uint32_t> common_iterations(std::size_t group) const {
        std::vector<std::uint32_t> common;
        const IterationRange chosen = choice_.iterations.value_or(IterationRange{});
        for (std::uint32_t i = 0; i < runs_[0][0].iterations.size(); ++i) {
            const auto has = [&](const AlignedRun& run) { return run.alignment.partner[i] != no_partner; };
            if (i >= chosen.first && i <= chosen.last && std::all_of(runs_[0].begin(), runs_[0].end(), has) &&
                std::all_of(runs_[group].begin(), runs_[group].end(), has))
                common.push_back(i);
        }
        return common;
    }

    template <class Value> Change change_of(std::size_t group, Value value) const {
        std::vector<RunValue> before, after;
        for (const AlignedRun& run : runs_[0]) before.push_back({value(run), 0});
        for (const AlignedRun& run : runs_[group]) after.push_back({value(run), 0});
        return change_between(before, after);
    }

    static double mean_time(const std::vector<AlignedRun>& runs, std::uint32_t iteration) {
        double sum = 0;
        for (const AlignedRun& run : runs) sum += run.time_of(iteration);
        return sum / static_cast<double>(runs.size());
    }

    GroupOverTime compare_with(std::size_t group) {
        GroupOverTime result;
        result.group = group;
        result.alignment = runs_[group][0].alignment;
        result.made = runs_[group][0].iterations.size();
        const std::vector<std::uint32_t> common = common_iterations(group);
        if (common.empty() && choice_.iterations && choice_.iterations->first >= first().iterations.size())
            throw ExportError(
                fmt::format("{} has {} iterations, so none from {} on", first().source->place, first().iterations.size(), choice_.iterations->first + 1));
        if (common.empty() && choice_.iterations)
            throw FrameError(fmt::format("none of the chosen iterations of {} has a partner in {}", groups_[0].name, groups_[group].name));
        if (common.empty())
            throw FrameError(fmt::format("no iteration of {} has a partner in {}; align them by step: --align step", groups_[0].name, groups_[group].name));
        const auto all_of = [](const AlignedRun& run) { return std::accumulate(run.iterations.time.begin(), run.iterations.time.end(), 0.0); };
        const auto paired_of = [&](const AlignedRun& run) {
            double sum = 0;
            for (const std::uint32_t i : common) sum += run.time_of(i);
            return sum;
        };
        result.iterations = change_of(group, paired_of);
        if (!choice_.iterations) {
            result.outside = change_of(group, [](const AlignedRun& run) { return run.outside; });
            result.alone = change_of(group, [&](const AlignedRun& run) { return all_of(run) - paired_of(run); });
            const Change alone = change_of(group, [&](const AlignedRun& run) { return static_cast<double>(run.iterations.size() - common.size()); });
            result.alone_before = alone.before;
            result.alone_after = alone.after;
        }
        const double size = static_cast<double>(first().iterations.size() + runs_[group][0].iterations.size());
        result.equal_pairs = 2 * static_cast<double>(result.alignment.pairs - result.alignment.different) / size;
        std::vector<float> differences, before;
        for (const std::uint32_t i : common) {
            result.pairs.push_back({i, runs_[group][0].alignment.partner[i], mean_time(runs_[0], i), mean_time(runs_[group], i)});
            before.push_back(static_cast<float>(result.pairs.back().ns_before));
            differences.push_back(static_cast<float>(result.pairs.back().ns_after - result.pairs.back().ns_before));
        }
        const double typical = std::accumulate(before.begin(), before.end(), 0.0) / static_cast<double>(before.size());
        const bool is_repeated = runs_[0].size() > 1 && runs_[group].size() > 1;
        const double error = error_of_mean(differences) * static_cast<double>(differences.size());
        result.iterations.error = std::isnan(error) && result.iterations.error == 0 ? error : std::max(result.iterations.error, error);
        result.least_change = is_repeated ? large_repeated : large_alone;
        for (const DifferenceLevel& level : difference_levels(differences, typical, result.least_change, most_changes)) {
            const std::span<const std::uint32_t> iterations = std::span(common).subspan(level.first, level.length());
            result.segments.push_back(segment(group, iterations, level));
        }
        in_parallel(result.segments.size(), [&](std::size_t s) {
            if (result.segments[s].is_change) explain(group, std::span(common), result.segments[s]);
        });
        const bool has_same_ranks = first().iterations.ranks == runs_[group][0].iterations.ranks; // others do other work
        if (!is_repeated && has_same_ranks) drop_disturbances(result.segments);
        join_unchanged(group, common, differences, result.segments);
        OrderedRun ordered = first().ordered, other = runs_[group][0].ordered;
        pair_by_rank(ordered, other);
        const SequencePairs sequences = pair_sequences(ordered, other, result.pairs);
        const std::vector<float> dissimilarity = run_dissimilarities(ordered, other, sequences.paths, result.pairs);
        for (std::size_t p = 0; p < dissimilarity.size(); ++p) result.pairs[p].dissimilarity = dissimilarity[p];
        result.calls = changed_calls(sequences);
        result.typical = typical_events(sequences);
        return result;
    }

    /// Repetitions, or what the machine does, may have shown that several parts in a row are chance.
    void join_unchanged(std::size_t group, std::span<const std::uint32_t> common, std::span<const float> differences,
                        std::vector<SegmentChange>& segments) const {
        std::vector<SegmentChange> joined;
        std::size_t end = 0; // of a part, among the common iterations
        for (SegmentChange& next : segments) {
            end += next.pairs;
            if (next.is_told_apart() || joined.empty() || joined.back().is_told_apart()) {
                joined.push_back(std::move(next));
                continue;
            }
            const std::size_t length = joined.back().pairs + next.pairs, first = end - length;
            const double error = error_of_mean(differences.subspan(first, length));
            joined.back() = segment(group, common.subspan(first, length), {first, end - 1, 0, error, false});
        }
        segments = std::move(joined);
    }

    SegmentChange segment(std::size_t group, std::span<const std::uint32_t> iterations, const DifferenceLevel& level) const {
        SegmentChange result;
        const std::vector<std::uint32_t>& partner = runs_[group][0].alignment.partner;
        result.before = {iterations.front(), iterations.back()};
        result.after = {partner[iterations.front()], partner[iterations.back()]};
        result.pairs = iterations.size();
        const auto mean = [&](const AlignedRun& run, const std::vector<float>& of) {
            double sum = 0;
            for (const std::uint32_t i : iterations) sum += of[run.alignment.partner[i]];
            return sum / static_cast<double>(iterations.size());
        };
        result.each = change_of(group, [&](const AlignedRun& run) { return mean(run, run.iterations.time); });
        // Repetitions may vary less than their iterations do, by chance.
        result.each.error = std::isnan(level.error) && result.each.error == 0 ? level.error : std::max(result.each.error, level.error);
        const auto is_counted = [](const AlignedRun& run) { return !run.iterations.instructions.empty(); };
        if (std::all_of(runs_[0].begin(), runs_[0].end(), is_counted) && std::all_of(runs_[group].begin(), runs_[group].end(), is_counted))
            result.instructions = change_of(group, [&](const AlignedRun& run) { return mean(run, run.iterations.instructions); });
        result.is_change = level.is_change && !result.each.is_chance();
        return result;
    }

    /// Compares the runs in the iterations of a segment.
    /// @param common those of all segments
    void explain(std::size_t group, std::span<const std::uint32_t> common, SegmentChange& segment) const {
        const auto first = std::lower_bound(common.begin(), common.end(), segment.before.first);
        const std::span<const std::uint32_t> iterations = common.subspan(static_cast<std::size_t>(first - common.begin()), segment.pairs);
        for (const std::size_t side : {std::size_t{0}, group}) {
            RunGroup& to = segment.groups.emplace_back(RunGroup{groups_[side].name, {}});
            for (const AlignedRun& run : runs_[side]) to.runs.push_back(part_of(run, iterations));
        }
        segment.comparison = compare_groups(segment.groups, choice_);
        const double between_samples = std::max(sample_ns(runs_[0][0]), sample_ns(runs_[group][0]));
        segment.evidence = evidence_of(segment.comparison.groups.front(), between_samples, segment.each, segment.instructions);
    }

    /// Between two samples of a thread, on the rank that has fewest.
    static double sample_ns(const AlignedRun& run) {
        double most = 0;
        for (const auto& [rank, info] : run.source->profile->ranks)
            if (info.rate != 0) most = std::max(most, 1e9 / static_cast<double>(info.rate));
        return most;
    }

    /// A run with some of its iterations only.
    static Run part_of(const AlignedRun& run, std::span<const std::uint32_t> iterations) {
        RunChoice choice = run.choice;
        for (const std::uint32_t i : iterations) {
            const std::uint32_t own = run.alignment.partner[i];
            if (!choice.parts.empty() && choice.parts.back().last + 1 == own)
                choice.parts.back().last = own;
            else
                choice.parts.push_back({own, own});
        }
        choice.iterations = IterationRange{choice.parts.front().first, choice.parts.back().last};
        return run_of(*run.source->profile, run.source->place, choice);
    }

    const std::vector<ProfiledGroup>& groups_;
    const RunChoice& choice_;
    std::optional<AlignBy> forced_;
    std::vector<std::vector<AlignedRun>> runs_; // by group
    std::vector<std::string> remarks_;
};

} // namespace

RunsOverTime compare_over_time(const std::vector<ProfiledGroup>& groups, const RunChoice& choice, std::optional<AlignBy> forced) {
    return OverTimeComparer(groups, choice, forced).compare();
}

IterationAlignment align_runs(const ProfiledRun& a, const ProfiledRun& b, const RunChoice& choice, std::optional<AlignBy> forced) {
    const std::vector<ProfiledGroup> groups = {{"", {a}}, {"", {b}}};
    return OverTimeComparer(groups, choice, forced).last_alignment();
}

} // namespace libprofile::tools
