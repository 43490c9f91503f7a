#include "tools/analysis/losses.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

std::uint64_t sum_of(const Profile& profile, std::uint64_t RankInfo::*member) {
    std::uint64_t sum = 0;
    for (const auto& [rank, info] : profile.ranks)
        sum += info.*member;
    return sum;
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
                if (!profile_.ranks.contains(rank))
                    missing.push_back(rank);
        for (const std::uint32_t rank : chosen)
            if (rank < profile_.job.ranks && !profile_.ranks.contains(rank))
                missing.push_back(rank);
        using enum LossGroup;
        add(Missing, "missing_ranks", missing.size(), [&] { return "no data of " + rank_words(missing); });
        add(Missing, "checkpoint_ranks", checkpoints.size(), [&] {
            return fmt::format("{} of {} did not come to MPI_Finalize ({}): killed, or still running; their data are those up to the "
                               "last iteration or checkpoint",
                               count(static_cast<double>(checkpoints.size())), plural(profile_.job.ranks, "rank"),
                               number_ranges(checkpoints));
        });
        add(Missing, "unfinished_ranks", unfinished.size(),
            [&] { return rank_words(unfinished) + " did not reach the end of the program"; });
    }

    /// What the reader of the files found. Some notes tell of missing data; all are taken for that in an incomplete profile.
    void add_notes(LossGroup group) {
        for (const std::string& note : profile_.notes)
            list_.push_back({group, "note", 1, printable(note)});
    }

    /// A counter of the ranks: nothing is said where it is 0.
    template <class Sentence>
    void add_counter(LossGroup group, const char* kind, std::uint64_t RankInfo::*member, Sentence sentence) {
        const std::uint64_t n = sum_of(profile_, member);
        add(group, kind, n, [&] { return sentence(n); });
    }

    void add_samples() {
        const std::uint64_t taken = sum_of(profile_, &RankInfo::samples_taken), lost = sum_of(profile_, &RankInfo::samples_lost);
        const double share = taken + lost == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(taken + lost);
        add(LossGroup::Loss, "samples_lost", lost, [&] {
            return fmt::format("{} lost ({})", plural(lost, "sample"), percent(share));
        });
    }

    void add_checked_paths() {
        const auto sum = [&](PathCount which) {
            std::uint64_t n = 0;
            for (const auto& [rank, info] : profile_.ranks)
                n += info.path_counts[static_cast<std::size_t>(which)];
            return n;
        };
        const std::uint64_t checked = sum(PathCount::Checked), wrong = sum(PathCount::Wrong);
        add(LossGroup::Loss, "wrong_paths", wrong, [&] {
            return fmt::format("{} of {} call paths found through marked return addresses differed from full unwinds, so marks were "
                               "switched off; please report this",
                               wrong, plural(checked, "checked one"));
        });
        if (wrong == 0)
            add(LossGroup::Remark, "checked_paths", checked, [&] {
                return plural(checked, "call path") + " found through marked return addresses equal those of full unwinds";
            });
    }

    std::vector<Loss> list() {
        std::stable_sort(list_.begin(), list_.end(), [](const Loss& a, const Loss& b) { return a.group < b.group; });
        return std::move(list_);
    }

  private:
    template <class Sentence>
    void add(LossGroup group, const char* kind, std::uint64_t n, Sentence sentence) {
        if (n != 0)
            list_.push_back({group, kind, n, sentence()});
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
        return plural(n, "thread") + " not measured because memory ran out; raise LIBPROFILE_MEMORY";
    });
    all.add_counter(Loss, "quota_losses", &RankInfo::quota_losses, [](std::uint64_t n) {
        return "memory for call paths and clusters ran out, so details were folded together " + plural(n, "time") +
               "; raise LIBPROFILE_MEMORY";
    });
    all.add_counter(Loss, "requests_lost", &RankInfo::requests_lost, [](std::uint64_t n) {
        return "messages of " + plural(n, "MPI request") + " not counted because memory ran out; their time is";
    });
    all.add_samples();
    all.add_checked_paths();
    all.add_counter(Loss, "partial_paths", &RankInfo::partial_paths, [](std::uint64_t n) {
        return plural(n, "call path") + " without known outer end, shown below \"(partial)\"";
    });
    all.add_counter(Loss, "clocks_lost", &RankInfo::clocks_lost, [](std::uint64_t n) {
        return "the program closed the perf counters of " + plural(n, "thread") +
               "; their CPU timers went on sampling, at up to some 250 Hz";
    });
    all.add_counter(Loss, "nesting_repairs", &RankInfo::nesting_repairs,
                    [](std::uint64_t n) { return plural(n, "phase marker") + " nested wrongly and repaired"; });
    return all.list();
}

} // namespace libprofile::tools
