#include "tools/analysis/losses.hpp"

#include "tools/analysis/affinity.hpp"
#include "tools/analysis/regions.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>

namespace libprofile::tools {

namespace {

std::uint64_t sum_of(const Profile& profile, std::uint64_t RankInfo::*member) {
    std::uint64_t sum = 0;
    for (const auto& [rank, info] : profile.ranks) sum += info.*member;
    return sum;
}

/// "closed iterations of \"step\": 812 (ranks 0-2), 811 (rank 3)": of the ranks that did not come to the end, for the phase
/// with most time.
std::string last_iterations_text(const Profile& profile, const std::vector<std::uint64_t>& ranks) {
    const std::vector<const Location*> locations = main_threads(profile);
    const auto location_of = [&](std::uint64_t rank) { return rank < locations.size() ? locations[rank] : nullptr; };
    std::vector<std::uint64_t> time(profile.phases.size());
    std::uint32_t longest = 0;
    for (const std::uint64_t rank : ranks)
        if (const Location* location = location_of(rank))
            for (const PhaseData& data : location->phases)
                if (profile.phases[data.phase].kind == PhaseKind::Iterations && !profile.phases[data.phase].is_frame && data.instances != 0) {
                    time[data.phase] += data.wall_inclusive_ns;
                    if (time[longest] == 0 || time[data.phase] > time[longest]) longest = data.phase;
                }
    if (time.empty() || time[longest] == 0) return "";
    std::map<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> by_last;
    for (const std::uint64_t rank : ranks)
        if (const PhaseData* data = find_phase(location_of(rank), longest)) by_last[data->instances].push_back(rank);
    std::string out = fmt::format("closed iterations of \"{}\":", printable(profile.phases[longest].name));
    constexpr std::size_t shown = 6;
    std::size_t n = 0;
    for (const auto& [iterations, at] : by_last) {
        if (n++ == shown) return out + ", ...";
        out += fmt::format("{} {} ({})", n == 1 ? "" : ",", count(static_cast<double>(iterations)), rank_words(at));
    }
    return out;
}

class Collector {
  public:
    explicit Collector(const Profile& profile) : profile_(profile) {}

    void add_ranks(const std::set<std::uint32_t>& chosen) {
        std::vector<std::uint64_t> missing, unfinished, checkpoints;
        for (const auto& [rank, info] : profile_.ranks) {
            if (info.checkpoint)
                checkpoints.push_back(rank);
            else if (!info.complete)
                unfinished.push_back(rank);
        }
        if (chosen.empty())
            for (std::uint32_t rank = 0; rank < profile_.job.ranks; ++rank)
                if (!profile_.ranks.contains(rank)) missing.push_back(rank);
        for (const std::uint32_t rank : chosen)
            if (rank < profile_.job.ranks && !profile_.ranks.contains(rank)) missing.push_back(rank);
        using enum LossGroup;
        add(Missing, "missing_ranks", missing.size(), [&] { return "no data of " + rank_words(missing); });
        add(Missing, "checkpoint_ranks", checkpoints.size(), [&] {
            return fmt::format("{} of {} did not reach MPI_Finalize ({}): killed, or still running; their data end at the "
                               "last iteration or checkpoint",
                               count(static_cast<double>(checkpoints.size())), plural(profile_.job.ranks, "rank"), number_ranges(checkpoints));
        });
        if (const std::string last = last_iterations_text(profile_, checkpoints); !last.empty())
            add(Missing, "last_iterations", checkpoints.size(), [&] { return last; });
        add(Missing, "unfinished_ranks", unfinished.size(), [&] { return rank_words(unfinished) + " did not reach the end of the program"; });
    }

    /// What the reader of the files found. Some notes tell of missing data; all are taken for that in an incomplete profile.
    void add_notes(LossGroup group) {
        for (const std::string& note : profile_.notes) list_.push_back({group, "note", 1, printable(note)});
    }

    void add_sentences(LossGroup group, const char* kind, const std::vector<std::string>& sentences) {
        for (const std::string& sentence : sentences) list_.push_back({group, kind, 1, sentence});
    }

    /// A counter of the ranks: nothing is said where it is 0.
    template <class Sentence> void add_counter(LossGroup group, const char* kind, std::uint64_t RankInfo::*member, Sentence sentence) {
        const std::uint64_t n = sum_of(profile_, member);
        add(group, kind, n, [&] { return sentence(n); });
    }

    void add_regions() {
        const std::optional<RegionsRecord> sums = region_losses(profile_);
        if (!sums) return;
        add(LossGroup::Loss, "region_repairs", sums->repairs,
            [&] { return plural(sums->repairs, "region") + " not ended, or ended in the wrong order, and repaired"; });
        add(LossGroup::Loss, "regions_lost", sums->too_deep + sums->without_memory, [&] {
            return plural(sums->too_deep + sums->without_memory, "visit") + " to regions not counted: nested too deep, no memory, or more than 4096 names";
        });
        add(LossGroup::Loss, "functions_without_module", sums->without_module, [&] {
            return plural(sums->without_module, "visit") + " to instrumented functions not counted: their code was made at run time, and is in no file";
        });
        add(LossGroup::Loss, "region_visits_inside", sums->inside, [&] {
            return plural(sums->inside, "visit") + " to regions and instrumented functions not counted: made while the thread was inside libprofile, "
                                                   "as in signal handlers that interrupt it";
        });
    }

    void add_openmp() {
        OpenMpRecord sums;
        for (const auto& [rank, info] : profile_.ranks)
            if (info.openmp) {
                sums.regions += info.openmp->regions;
                sums.regions_refused += info.openmp->regions_refused;
                sums.shares_refused += info.openmp->shares_refused;
                sums.waits_refused += info.openmp->waits_refused;
                sums.phases_missed += info.openmp->phases_missed;
            }
        using enum LossGroup;
        add(Loss, "openmp_regions_refused", sums.regions_refused, [&] {
            return fmt::format("{} of {} not measured: nested too deep, inside another event, or on a stack of their own; the work of their threads is "
                               "below the OpenMP runtime's own functions",
                               count(static_cast<double>(sums.regions_refused)), plural(sums.regions + sums.regions_refused, "parallel region"));
        });
        add(Loss, "openmp_shares_refused", sums.shares_refused, [&] {
            return "work of threads in parallel regions not shown below the region " + plural(sums.shares_refused, "time") +
                   ": nested too deep, or inside another event";
        });
        add(Loss, "openmp_waits_refused", sums.waits_refused, [&] {
            return plural(sums.waits_refused, "wait") +
                   " of OpenMP not counted separately: inside another one, inside an MPI call, or in tasks in more than 64 waits inside each other, "
                   "as part of the time around it";
        });
        add(Loss, "openmp_phases_missed", sums.phases_missed, [&] {
            return "worker threads missed " +
                   (sums.phases_missed == 1 ? "a beginning or end" : count(static_cast<double>(sums.phases_missed)) + " beginnings and ends") +
                   " of the main thread's phases and iterations, because too many lay between two parallel regions; "
                   "from there on, these threads have fewer iterations, with other numbers";
        });
    }

    void add_samples() {
        const std::uint64_t taken = sum_of(profile_, &RankInfo::samples_taken), lost = sum_of(profile_, &RankInfo::samples_lost);
        const double share = taken + lost == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(taken + lost);
        add(LossGroup::Loss, "samples_lost", lost, [&] { return fmt::format("{} lost ({})", plural(lost, "sample"), percent(share)); });
    }

    /// Iterations and call paths, of all threads.
    void add_iterations() {
        std::uint64_t unclustered = 0, beyond_reader = 0, closed = 0, without_values = 0, with_series = 0, folded = 0, all = 0;
        for (const auto& [rank, info] : profile_.ranks) beyond_reader += info.beyond_reader;
        for (const Location& location : profile_.locations)
            for (const PhaseData& data : location.phases) {
                for_each_cell(data, [&](const Cell& cell) {
                    if (cell.metric != 0) return;
                    all += cell.value;
                    folded += profile_.paths[cell.path].kind == NodeKind::Quota ? cell.value : 0;
                });
                if (profile_.phases[data.phase].kind != PhaseKind::Iterations) continue;
                unclustered += data.unclustered;
                closed += data.iteration_ns.size();
                if (!data.series) continue;
                with_series += data.series->iterations();
                without_values += data.series->iterations() - std::min(data.series->iterations(), data.series->iterations_with_totals());
            }
        const auto of = [](std::uint64_t n, std::uint64_t sum) { return fmt::format("{} of {}", count(static_cast<double>(n)), plural(sum, "iteration")); };
        using enum LossGroup;
        const std::uint64_t for_memory = unclustered - std::min(unclustered, beyond_reader);
        add(Loss, "iterations_without_cluster", for_memory, [&] {
            return of(for_memory, closed) + " are in no cluster because memory ran out: their times are exact, their call paths are known in sum only; "
                                            "raise LIBPROFILE_MEMORY";
        });
        add(Loss, "iterations_beyond_reader", beyond_reader, [&] {
            return of(beyond_reader, closed) + " are in no cluster because this command limits its time and memory for iterations of killed "
                                               "ranks (docs/limits.md); their times are exact, their call paths are known in sum only";
        });
        add(Loss, "iterations_without_values", without_values, [&] {
            return of(without_values, with_series) + " have only their time because memory ran out; their other values are estimated "
                                                     "from their clusters; raise LIBPROFILE_MEMORY";
        });
        add(Loss, "quota_time", folded, [&] {
            return fmt::format("{} of the time is at \"(quota)\": its call paths did not fit into memory; raise LIBPROFILE_MEMORY",
                               percent(static_cast<double>(folded) / static_cast<double>(std::max<std::uint64_t>(all, 1))));
        });
    }

    void add_orders() {
        std::uint64_t unnumbered = 0, untimed = 0;
        for (const Location& location : profile_.locations)
            for (const PhaseData& data : location.phases)
                if (data.sequences) {
                    unnumbered += data.sequences->unnumbered;
                    untimed += data.sequences->untimed;
                }
        add(LossGroup::Loss, "iterations_without_order", unnumbered, [&] {
            return "the order of events is not known of " + plural(unnumbered, "iteration") + " because memory ran out; raise LIBPROFILE_ORDER_MEMORY";
        });
        add(LossGroup::Loss, "iterations_without_timeline", untimed, [&] {
            return plural(untimed, "iteration") + " with a known order of events are in no timeline: too many events, or memory ran out; raise "
                                                  "LIBPROFILE_ORDER_MEMORY";
        });
    }

    void add_checked_paths() {
        const auto sum = [&](PathCount which) {
            std::uint64_t n = 0;
            for (const auto& [rank, info] : profile_.ranks) n += info.path_counts[static_cast<std::size_t>(which)];
            return n;
        };
        const std::uint64_t checked = sum(PathCount::Checked), wrong = sum(PathCount::Wrong);
        add(LossGroup::Loss, "wrong_paths", wrong, [&] {
            return fmt::format("{} of {} call paths found through marked return addresses differed from full unwinds, so marks were "
                               "switched off; please report this",
                               wrong, plural(checked, "checked one"));
        });
        if (wrong == 0)
            add(LossGroup::Remark, "checked_paths", checked,
                [&] { return plural(checked, "call path") + " found through marked return addresses equal those of full unwinds"; });
    }

    std::vector<Loss> list() {
        std::stable_sort(list_.begin(), list_.end(), [](const Loss& a, const Loss& b) { return a.group < b.group; });
        return std::move(list_);
    }

  private:
    template <class Sentence> void add(LossGroup group, const char* kind, std::uint64_t n, Sentence sentence) {
        if (n != 0) list_.push_back({group, kind, n, sentence()});
    }

    const Profile& profile_;
    std::vector<Loss> list_;
};

} // namespace

const char* group_name(LossGroup group) {
    constexpr const char* names[] = {"missing", "loss", "remark"};
    return names[static_cast<std::size_t>(group)];
}

std::vector<Loss> losses(const Profile& profile, const std::set<std::uint32_t>& chosen) {
    using enum LossGroup;
    Collector all(profile);
    all.add_ranks(chosen);
    all.add_counter(Missing, "threads_running", &RankInfo::threads_running, [](std::uint64_t n) {
        return plural(n, "thread") + " not in the checkpoint, because only the thread that writes it and those that have ended can be "
                                     "read";
    });
    all.add_notes(profile.complete ? Loss : Missing);
    all.add_counter(Loss, "threads_lost", &RankInfo::threads_lost, [](std::uint64_t n) {
        // The file counts them together.
        return plural(n, "thread") + " not measured: too many for LIBPROFILE_MEMORY, not made by pthread_create, or inside libprofile when the job "
                                     "ended";
    });
    all.add_counter(Loss, "threads_short", &RankInfo::threads_short, [&](std::uint64_t n) {
        return fmt::format("{} not shown, without a sample, an MPI call or a marker: {} of processor time", plural(n, "thread"),
                           duration(static_cast<double>(sum_of(profile, &RankInfo::threads_short_ns)), {}));
    });
    all.add_counter(Loss, "quota_losses", &RankInfo::quota_losses, [](std::uint64_t n) {
        return fmt::format("details were folded together {}, because memory for call paths and clusters ran out or there were too many phases; "
                           "raise LIBPROFILE_MEMORY, or use fewer phase names",
                           plural(n, "time"));
    });
    all.add_iterations();
    all.add_orders();
    all.add_counter(Loss, "requests_lost", &RankInfo::requests_lost,
                    [](std::uint64_t n) { return "messages of " + plural(n, "MPI request") + " not counted because memory ran out; their time is counted"; });
    all.add_counter(Loss, "operations_lost", &RankInfo::operations_lost, [](std::uint64_t n) {
        return plural(n, "operation") + " of the program (MPI_Op_create) not told apart from the calls that run them: a process can have 256 functions";
    });
    all.add_samples();
    all.add_checked_paths();
    all.add_counter(Loss, "partial_paths", &RankInfo::partial_paths,
                    [](std::uint64_t n) { return plural(n, "call path") + " with an unknown outer part, shown below \"(partial)\""; });
    all.add_counter(Loss, "clocks_lost", &RankInfo::clocks_lost, [](std::uint64_t n) {
        return "the program closed the perf counters of " + plural(n, "thread") + "; from then on their CPU timers sampled, at about 250 Hz at most";
    });
    all.add_counter(Loss, "nesting_repairs", &RankInfo::nesting_repairs,
                    [](std::uint64_t n) { return plural(n, "phase marker") + " nested wrongly and repaired"; });
    all.add_regions();
    all.add_openmp();
    all.add_sentences(Remark, "placement", affinity_warnings(profile));
    all.add_sentences(Loss, "counters", counter_warnings(profile));
    return all.list();
}

} // namespace libprofile::tools
