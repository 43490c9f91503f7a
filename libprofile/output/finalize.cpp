#include "libprofile/output/finalize.hpp"

#include "format/own_share.hpp"
#include "format/regions.hpp"
#include "libprofile/base/messages.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/callpath/wrong_path.hpp"
#include "libprofile/loops/iteration_point.hpp"
#include "libprofile/output/checkpoint.hpp"
#include "libprofile/output/file_end.hpp"
#include "libprofile/output/file_start.hpp"
#include "libprofile/output/job_clock.hpp"
#include "libprofile/output/job_tables.hpp"
#include "libprofile/output/output_folder.hpp"
#include "libprofile/output/polled_collectives.hpp"
#include "libprofile/output/profile_writer.hpp"
#include "libprofile/output/safe_files.hpp"
#include "libprofile/output/serializer.hpp"
#include "libprofile/thread/thread_registry.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <unistd.h>

namespace libprofile {

namespace {

bool roots_differ = false; // the program has changed the root folder of some ranks
bool all_came = false;     // all ranks came, and each knows it

enum class Rounding { Nearest, Down };

/// a / b in tenths of a percent, printed as "%d.%d".
struct Tenths {
    int whole = 0;
    int tenth = 0;
    Tenths(std::uint64_t a, std::uint64_t b, Rounding rounding = Rounding::Nearest) {
        const std::uint64_t more = rounding == Rounding::Nearest ? b / 2 : 0;
        const auto share = b == 0 ? 0 : static_cast<std::uint64_t>((static_cast<unsigned __int128>(a) * 1000 + more) / b);
        whole = static_cast<int>(share / 10);
        tenth = static_cast<int>(share % 10);
    }
};

/// libprofile's own share. If samples say more than what was booked, they come first.
template <std::size_t size> void describe_own_share(const RankSummary& all, char (&text)[size]) {
    const bool is_bound = is_lower_bound(all.overhead_ns, all.wall_ns, all.partly_seen != 0);
    const Tenths booked(all.overhead_ns, all.wall_ns, is_bound ? Rounding::Down : Rounding::Nearest);
    const Tenths sampled(all.samples_inside, all.samples_taken);
    if (do_samples_say_more(all.samples_inside, all.samples_taken, all.overhead_ns, std::min(all.sampled_ns, all.wall_ns)))
        std::snprintf(text, size, "libprofile itself: %d.%d%% of the samples (it measured %d.%d%% of the time)", sampled.whole, sampled.tenth, booked.whole,
                      booked.tenth);
    else
        std::snprintf(text, size, "libprofile itself: %s %d.%d%% of the time", is_bound ? "at least" : "about", booked.whole, booked.tenth);
}

void say_exit_line(const RankSummary& all, std::uint64_t bytes, const char* note = ",") {
    const Job& job = process.job();
    const Tenths lost(all.samples_lost, all.samples_taken + all.samples_lost);
    char own_share[128];
    describe_own_share(all, own_share);
    char iterations[192] = "no iterations marked";
    if (all.iterations == 0 && all.quota_losses != 0)
        std::snprintf(iterations, sizeof iterations, "no iterations kept");
    else if (all.iterations != 0)
        std::snprintf(iterations, sizeof iterations, "%llu iterations%s%.64s%s in %llu clusters", static_cast<unsigned long long>(all.iterations),
                      *all.phase == 0 ? "" : " of \"", all.phase, *all.phase == 0 ? "" : "\"", static_cast<unsigned long long>(all.clusters));
    say("%d rank%s%s %s, %llu samples (%d.%d%% lost), %llu KiB, %s, memory up to %llu KiB per process -> %s (next: libprofile report %s)", job.ranks,
        job.ranks == 1 ? "" : "s", note, iterations, static_cast<unsigned long long>(all.samples_taken), lost.whole, lost.tenth,
        static_cast<unsigned long long>((bytes + 1023) / 1024), own_share, static_cast<unsigned long long>((all.memory_peak + 1023) / 1024),
        output_folder.shown(), output_folder.shown());
}

void say_losses(const RankSummary& all) {
    if (process.job().has_new_root()) say("warning: the program has changed its root folder; NEW_ROOT stands for it in paths");
    if (all.repairs != 0) {
        const char* first = "";
        if (const Thread* thread = thread_registry.main_thread()) first = thread->phases.repairs().first();
        say("warning: %llu phase markers did not match and were repaired%s%s; begin and end must pair like brackets",
            static_cast<unsigned long long>(all.repairs), *first == 0 ? "" : ", the first: ", first);
    }
    if (iteration_point.is_on() && all.iterations == 0)
        say("warning: LIBPROFILE_ITERATION=%s: the main thread never passed it after MPI_Init, so there are no iterations%s", iteration_point.name(),
            iteration_point.was_passed_by_others() ? "; other threads did, and have iterations of their own" : " (the compiler may have inlined the function)");
    if (all.quota_losses != 0)
        say("warning: details were folded together %llu times, because memory for call paths and clusters ran out or there were "
            "too many phases; raise LIBPROFILE_MEMORY, or use fewer phase names",
            static_cast<unsigned long long>(all.quota_losses));
    if (all.paths_wrong != 0) {
        char first[768];
        first_wrong_path.describe(first, sizeof first);
        say("warning: %llu call paths found through marked return addresses differed from full unwinds, so marks were "
            "switched off; please report this, and run with LIBPROFILE_MARKS=0%s",
            static_cast<unsigned long long>(all.paths_wrong), first);
    }
}

/// Totals over the ranks. The number of iterations and clusters, and the memory, are those of the rank with most of them. The phase has a name if
/// all ranks that have one agree.
bool reduce(PolledCollectives& job, RankSummary& all, std::uint64_t& bytes) {
    std::uint64_t* const summed[] = {&all.samples_taken, &all.samples_lost, &all.samples_inside, &all.sampled_ns, &all.overhead_ns, &all.wall_ns, &all.repairs,
                                     &all.quota_losses,  &all.paths_wrong,  &all.partly_seen,    &bytes};
    std::uint64_t sums[std::size(summed)];
    for (std::size_t i = 0; i < std::size(summed); ++i) sums[i] = *summed[i];
    constexpr std::uint64_t no_name = ~std::uint64_t{0};
    const std::uint64_t name = region_id(all.phase, std::strlen(all.phase)) >> 1; // a hash that is equal in every process
    std::uint64_t inverse[] = {~all.iterations, ~all.clusters, ~all.memory_peak, all.iterations == 0 ? no_name >> 1 : name,
                               all.iterations == 0 ? no_name : ~name};
    if (!job.sum(sums, std::size(sums)) || !job.min(inverse, 5)) return false;
    for (std::size_t i = 0; i < std::size(summed); ++i) *summed[i] = sums[i];
    all.iterations = ~inverse[0];
    all.clusters = ~inverse[1];
    all.memory_peak = ~inverse[2];
    if (all.iterations == 0 || inverse[3] != ~inverse[4]) all.phase = "";
    return true;
}

/// Rank 0: nothing more will be written. Returns false if the file could not get its name.
bool finish_file(const char* partial, bool complete) {
    const std::uint32_t flags = complete ? std::uint32_t{FileComplete} : 0u;
    char final_name[OutputFolder::path_size + 64];
    output_folder.file("profile.lprof", final_name);
    int error = write_at(partial, offsetof(FileHeader, flags), &flags, sizeof flags);
    if (error == 0) error = rename_new(partial, final_name);
    if (error != 0)
        say("warning: cannot complete %s (%s); set LIBPROFILE_OUTPUT to a folder that can still be written at the end", final_name, what_failed(error));
    return error == 0;
}

/// Rank 0: no rank could write anything to `partial`.
void say_nothing_written(const char* partial, int error) {
    char kept[OutputFolder::path_size + 64];
    output_folder.file("rank-0.lprof", kept);
    if (access(kept, F_OK) == 0)
        say("error: none of the %d ranks could write its profile to %s (%s); what was kept before -> %s (next: libprofile report %s)", process.job().ranks,
            partial, what_failed(error), output_folder.shown(), output_folder.shown());
    else
        say("error: none of the %d ranks could write its profile to %s (%s), so there is no profile; set LIBPROFILE_OUTPUT to a folder that all "
            "ranks can still write when they end",
            process.job().ranks, partial, what_failed(error));
}

/// Writes this rank's section of the common file and its part of the end. Returns 0 or errno.
int write_section(const char* partial, const BlockBuffer& section, const FileLayout& layout, const RankEntry& entry) {
    int error = write_at(partial, layout.section_at, section.data(), section.size());
    if ((error == ENOSPC || error == EDQUOT) && give_room(section.size())) error = write_at(partial, layout.section_at, section.data(), section.size());
    return error != 0 ? error : write_file_end(partial, layout, entry);
}

/// All ranks: `partial` could not be written because of `error`. Returns true if there is another output folder now. Live files stay where they are.
bool fall_back(PolledCollectives& job, int error, const char* partial) {
    const bool leads = process.job().rank == 0;
    char folder[OutputFolder::path_size] = {};
    if (leads && output_folder.fall_back(error)) {
        unlink(partial);
        output_folder.say_fallen_back(error);
        std::snprintf(folder, sizeof folder, "%s", output_folder.path());
    }
    if (!job.broadcast(folder, sizeof folder) || folder[0] == 0) return false;
    output_folder.adopt(folder);
    return true;
}

/// Returns false if this rank has to write alone.
bool write_common_file(PolledCollectives& job, std::uint64_t ended_at) {
    const bool leads = process.job().rank == 0;
    BlockBuffer buffer;
    RankEntry entry{};
    RankSummary summary;
    bool ok = !leads || write_file_start(buffer, static_cast<std::uint64_t>(process.job().ranks), 0);
    WritingCost cost{buffer.size(), ended_at};
    RankRecord record = describe_rank(true, summary, {});
    ok = write_measurements(buffer, {}) && ok; // if not, as much as there is room for
    JobTables tables;
    tables.collect();
    JobClock clock;
    const std::uint64_t waits_from = session_clock.now();
    if (!job.everyone_is_here(clock.compared())) return false;
    all_came = true;

    char folder[OutputFolder::path_size] = {};
    if (leads) {
        output_folder.check();
        if (!output_folder.ready()) output_folder.create();
        std::snprintf(folder, sizeof folder, "%s", output_folder.path());
    }
    if (!job.broadcast(folder, sizeof folder)) return false;
    if (folder[0] == 0) return true; // rank 0 has said why
    output_folder.adopt(folder);

    if (!clock.relate(job) || !tables.unify(job)) return false;
    cost.began_at += session_clock.now() - waits_from;
    ok = tables.write(buffer) && ok;
    ok = clock.write(buffer, {}) && ok;
    const std::uint64_t with_own_tables = tables.map_rank() == no_rank ? 1 : 0;
    ok = (with_own_tables == 0 || write_own_tables(buffer, {})) && write_locations(buffer, true, tables.map_rank(), {}) && ok;
    tables.release();
    ok = write_rank_record(buffer, record, cost) && ok;
    summary.add_end(record.writing_ns);
    ok = write_directory(buffer, static_cast<std::uint32_t>(process.job().rank), entry) && ok;

    FileLayout layout;
    std::uint64_t bytes = buffer.size();
    layout.position = static_cast<std::uint64_t>(process.job().rank);
    layout.ranks = static_cast<std::uint64_t>(process.job().ranks);
    std::uint64_t sizes[] = {bytes, process.job().has_new_root() ? std::uint64_t{1} : 0};
    if (!job.sum_before(bytes, layout.section_at) || !job.sum(sizes, 2)) return false;
    layout.table_at = sizes[0];
    roots_differ = sizes[1] != 0 && layout.ranks > 1;
    if (roots_differ) return false; // for some ranks the path means another file
    char partial[OutputFolder::path_size + 64];
    int error = 0;
    std::uint64_t counts[2] = {};
    const std::uint64_t& failures = counts[0];
    std::uint64_t worst = 0;
    for (bool has_fallen_back = false;; has_fallen_back = true) {
        output_folder.file("profile.lprof.partial", partial);
        error = write_section(partial, buffer, layout, entry);
        if (error == 0 && !ok) error = ENOMEM;
        counts[0] = error == 0 ? 0 : 1;
        counts[1] = with_own_tables;
        worst = ~static_cast<std::uint64_t>(error);
        if (!job.sum(counts, 2, true) || !job.min(&worst, 1)) return false;
        worst = ~worst;
        if (failures == 0 || has_fallen_back || !fall_back(job, static_cast<int>(worst), partial)) break;
    }
    if (!reduce(job, summary, bytes)) return false;
    const bool has_any = !leads || failures < layout.ranks || access(partial, F_OK) == 0;
    char is_finished[2] = {};
    if (leads && has_any && finish_file(partial, failures == 0)) is_finished[0] = '1';
    // Live files are kept until the common file is complete and has its name. A rank that does not learn of it leaves its live file; readers take
    // the common file.
    if (job.broadcast(is_finished, sizeof is_finished) && is_finished[0] != 0 && error == 0) remove_checkpoint(partial);
    if (!leads) return true;
    if (!has_any) return say_nothing_written(partial, static_cast<int>(worst)), true;
    if (failures != 0) {
        if (is_finished[0] != 0) output_folder.file("profile.lprof", partial);
        say("error: %llu of %d ranks could not write all of their data to %s (%s), so the profile is incomplete; set "
            "LIBPROFILE_OUTPUT to a folder with room that all nodes can write",
            static_cast<unsigned long long>(failures), process.job().ranks, partial, what_failed(static_cast<int>(worst)));
    }
    if (counts[1] != 0 && process.job().ranks > 1)
        say("warning: the call paths of %llu of %d ranks are stored separately, because memory (LIBPROFILE_MEMORY) was short when those of "
            "all ranks were unified, or the program has changed its user; nothing is lost, but the profile is larger",
            static_cast<unsigned long long>(counts[1]), process.job().ranks);
    say_exit_line(summary, bytes);
    say_losses(summary);
    return true;
}

} // namespace

void prepare_output_folder() noexcept {
    if (!output_folder.ready()) output_folder.lead();
}

void write_together(std::uint64_t ended_at) noexcept {
    bool together = false;
    {
        PolledCollectives job(*process.mpi(), static_cast<std::uint64_t>(process.config().number(Option::FinalizeTimeout)));
        together = write_common_file(job, ended_at);
    }
    if (!together) write_alone(Output::Together, session_clock.now());
}

void write_alone(Output intended, std::uint64_t ended_at) noexcept {
    const bool alone = intended == Output::OneProcess;
    const bool complete = intended != Output::Together;
    output_folder.check();
    if (!output_folder.ready() && !(alone ? output_folder.create() : output_folder.join())) return;
    BlockBuffer buffer;
    RankEntry entry{};
    RankSummary summary;
    char path[OutputFolder::path_size + 64];
    char name[64];
    const std::uint32_t flags = complete ? std::uint32_t{FileComplete} : 0u;
    std::snprintf(name, sizeof name, alone ? "profile.lprof" : "rank-%d.lprof", process.job().rank);
    output_folder.file(name, path);
    int error = ENOMEM;
    if (write_file_start(buffer, 1, flags) && write_rank(buffer, complete, ended_at, summary) &&
        write_directory(buffer, static_cast<std::uint32_t>(process.job().rank), entry) && append_file_end(buffer, entry))
        error = replace_file(path, buffer.data(), buffer.size()); // rank-N.lprof may be there: its checkpoint
    const int first_error = error;
    if (error != 0 && output_folder.fall_back(error)) {
        output_folder.file(name, path);
        error = replace_file(path, buffer.data(), buffer.size());
    }
    if (error == 0) remove_checkpoint(path);
    // One rank prints for the job: the first, or the one that made the folder because the first lacks the library.
    char first[OutputFolder::path_size + 64];
    output_folder.file("rank-0.lprof", first);
    const bool speaks = alone || process.job().rank == 0 || (intended == Output::Together && output_folder.created() && access(first, F_OK) != 0);
    if (!speaks) return;
    if (error != 0) return say("error: cannot write %s (%s); set LIBPROFILE_OUTPUT to a folder with room", path, what_failed(error));
    if (first_error != 0) output_folder.say_fallen_back(first_error);
    if (intended == Output::Together && process.job().ranks == 1) {
        say("warning: the program ended without MPI_Finalize -> %s (next: libprofile report %s)", output_folder.shown(), output_folder.shown());
    } else if (intended == Output::Together && process.config().number(Option::FinalizeTimeout) == 0) {
        say("warning: LIBPROFILE_FINALIZE_TIMEOUT=0: the %d ranks do not wait for each other, so each wrote its own file -> %s (next: libprofile "
            "report %s)",
            process.job().ranks, output_folder.shown(), output_folder.shown());
    } else if (intended == Output::Together) {
        if (roots_differ)
            say("warning: each rank wrote its own file -> %s (next: libprofile report %s)", output_folder.shown(), output_folder.shown());
        else if (all_came)
            say("warning: the %d ranks could not finish together, because one did not answer in time or MPI reported an error, so each wrote "
                "its own file -> %s (next: libprofile report %s)",
                process.job().ranks, output_folder.shown(), output_folder.shown());
        else
            say("warning: not all %d ranks came to MPI_Finalize with libprofile loaded, so each that has it wrote its own "
                "file -> %s (next: libprofile report %s)",
                process.job().ranks, output_folder.shown(), output_folder.shown());
    } else {
        say_exit_line(summary, buffer.size(), alone ? "," : " in MPI sessions, a file each; rank 0:");
    }
    say_losses(summary);
}

} // namespace libprofile
