#include "libprofile/output/checkpoint.hpp"

#include "libprofile/base/messages.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/base/real_time.hpp"
#include "libprofile/base/small_file.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/loops/loop_watch.hpp"
#include "libprofile/output/file_end.hpp"
#include "libprofile/output/file_start.hpp"
#include "libprofile/output/journal.hpp"
#include "libprofile/output/live_file.hpp"
#include "libprofile/output/output_folder.hpp"
#include "libprofile/output/safe_files.hpp"
#include "libprofile/output/serializer.hpp"
#include "libprofile/thread/counting.hpp"
#include "libprofile/thread/recording.hpp"
#include "libprofile/thread/thread_registry.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

namespace libprofile {

namespace {

constexpr std::size_t smallest_room = 1 << 20; // of a journal; it grows if the journal is full too soon
constexpr std::size_t largest_room = 16 << 20;
constexpr std::size_t largest_extended_room = 64 << 20; // limit of growth until the next snapshot may be made
constexpr std::uint64_t too_soon_ns = 10000000000;
constexpr std::uint64_t flush_every_ns = 1000000000; // for a journal that is not mapped
constexpr std::uint64_t most_share = 20;             // snapshots because of a full journal take at most a 20th of the time
// The journal has no events (LIBPROFILE_TRACE=events): only snapshots keep them.
constexpr std::uint64_t events_every_ns = 1000000000;
constexpr std::uint64_t events_share = 100; // these take at most a 100th of the time

char path[OutputFolder::path_size + 64] = {}; // of the live file; empty if there is none
bool complained = false;
bool without_folder = false;

/// Used by the main thread only.
struct LiveData {
    LiveFile file;
    Journal journal;
    std::uint64_t interval_ns = 0; // LIBPROFILE_CHECKPOINT; 0 for off
    std::size_t room = smallest_room;
    pid_t process = 0;       // the owner of the file
    bool is_own = false;     // the iteration that is being closed is of this process
    bool is_missing = false; // closed iterations are missing in the file
    bool has_tried = false;
    bool has_iterations = false;  // that the journal has taken
    std::uint64_t earliest = 0;   // when a full journal may cause the next snapshot
    std::uint64_t events_ns = 0;  // from a snapshot that keeps newer events to the next; 0: no events are kept
    std::uint64_t events_at = 0;  // when that one is due
    std::uint64_t written_at = 0; // time of the last snapshot; 0 if there was none
    std::uint64_t flushed_at = 0;
};
constinit LiveData live;

void closing(const Phase& phase, const IterationProfile& profile, const StructureSignatures& signatures, std::uint64_t wall_ns, std::uint64_t now) noexcept {
    // A child made by a bare clone system call has our memory, but not the mapping.
    live.is_own = live.process == getpid();
    if (live.is_own) live.journal.closing(phase, profile, signatures, wall_ns, now);
}

void closed(IterationFate fate) noexcept {
    if (!live.is_own) return; // closing() has asked
    const bool is_taken = live.journal.closed(fate);
    // The journal cannot tell the rest of the phase any more.
    if (!is_taken || fate == IterationFate::Unknown) live.is_missing = true;
    if (!is_taken) return;
    live.has_iterations = true;
    checkpoint_due_at.store(session_clock.now() + live.interval_ns, std::memory_order_relaxed);
}

/// The least time from one snapshot that keeps events to the next.
std::uint64_t least_events_ns() noexcept { return live.interval_ns < events_every_ns ? live.interval_ns : events_every_ns; }

/// After one at `now`, which took `spent` ns. Ranks wait for each other, so all would wait for each one's snapshot if these came one after another: they are
/// due at the same real times, on which machines agree, and slow ones at every second, fourth ... of them.
void plan_events(std::uint64_t now, std::uint64_t spent) noexcept {
    live.events_ns = least_events_ns();
    if (live.events_ns == 0) return;
    while (live.events_ns < spent * events_share) live.events_ns *= 2;
    const std::uint64_t until = live.events_ns - real_time() % live.events_ns;
    live.events_at = now + (until < spent * events_share / 2 ? until + live.events_ns : until); // not soon after one that took long
}

/// The next snapshot of a program that closes no iterations.
std::uint64_t due_without_iterations(std::uint64_t now) noexcept {
    const std::uint64_t most = now + live.interval_ns;
    return live.events_ns == 0 || live.has_iterations || live.events_at > most ? most : live.events_at;
}

/// Notes a loss that only a new snapshot can repair.
void missed() noexcept {
    if (live.process != getpid()) return;
    live.journal.stop();
    live.is_missing = true;
}

/// The journal has these values already, and they will be added to it again.
void put_back(const Phase& phase) noexcept {
    if (live.process == getpid() && !live.journal.put_back(phase)) missed();
}
constexpr IterationListener listener{closing, closed, put_back, missed};

/// Called on the main thread at the first request.
void begin(Thread& thread, std::uint64_t now) noexcept {
    live.interval_ns = static_cast<std::uint64_t>(process.config().number(Option::Checkpoint));
    live.process = getpid();
    if (thread.events != nullptr) plan_events(now, 0);
    checkpoint_due_at.store(live.interval_ns == 0 ? checkpoint_never : due_without_iterations(now), std::memory_order_relaxed);
    if (live.interval_ns != 0) thread.phases.iterations().tell(&listener);
}

/// Rank 0 makes the folder at MPI_Init and prints a message if it cannot. Asking again would repeat the message.
bool has_folder() noexcept {
    if (!output_folder.ready() && !without_folder) without_folder = !(process.output() == Output::OneProcess ? output_folder.create() : output_folder.join());
    return output_folder.ready();
}

/// Returns false if the stack is too small. Small stacks are usually those of threads, but a few programs run main on one.
bool has_stack(std::uintptr_t frame) noexcept {
    constexpr std::uintptr_t needed = 64 << 10;
    return !is_own_stack(frame) || frame - thread_local_block.stack_low >= needed;
}

BlockHeader journal_header(std::size_t room) {
    BlockHeader header{};
    header.magic = block_magic;
    header.type = static_cast<std::uint32_t>(BlockType::Journal);
    header.stored_size = header.raw_size = room;
    header.rank = static_cast<std::uint32_t>(process.job().rank);
    return header;
}

/// Returns 0 or errno.
int write(Thread& thread, std::uint64_t now, bool is_full) noexcept {
    BlockBuffer buffer;
    RankSummary summary;
    const std::uint32_t modules = load_map.size(); // it may grow meanwhile; new modules are in the journal, too
    if (!write_file_start(buffer, 1, 0) || !write_rank(buffer, false, session_clock.now(), summary, {&thread, now})) return ENOMEM;
    const std::uint64_t lasted = now - live.written_at;
    const bool is_soon = is_full && lasted < too_soon_ns;
    if (is_soon) live.room *= lasted < too_soon_ns / 10 ? 4 : 2;
    if (live.room > largest_room) live.room = largest_room;
    // At least as large as the snapshot, so all snapshots together take no more than the journals.
    while (live.room < buffer.size() && live.room < largest_extended_room) live.room *= 2;
    const BlockHeader header = journal_header(live.room);
    // A growing file has no end for a directory. Readers read it from the beginning, like an unfinished file.
    const bool has_journal = live.interval_ns != 0;
    RankEntry entry{};
    if (has_journal ? !buffer.append(&header, sizeof header) : !write_directory(buffer, header.rank, entry) || !append_file_end(buffer, entry)) return ENOMEM;
    char name[64];
    std::snprintf(name, sizeof name, "rank-%d.lprof", process.job().rank);
    output_folder.file(name, path);
    const int error = live.file.replace(path, buffer.data(), buffer.size(), has_journal ? sizeof header : 0, has_journal ? live.room : 0, is_soon);
    if (error != 0) return error;                            // the previous file stays in use
    if (live.file.refusal() != 0) live.room = smallest_room; // which may fit next time
    if (live.file.memory() != nullptr)
        live.journal.begin(thread, live.file.memory(), live.file.size(), modules);
    else
        live.journal.end();
    live.is_missing = false;
    live.written_at = live.flushed_at = now;
    return 0;
}

/// One process prints for the job, and complains once.
bool may_speak() noexcept { return process.job().rank == 0 || process.output() == Output::OneProcess; }
bool may_complain() noexcept { return may_speak() && !std::exchange(complained, true); }

void complain(int error) noexcept {
    if (!may_complain()) return;
    say("warning: cannot write the checkpoint %s (%s), so nothing more is kept if the job is killed; set LIBPROFILE_OUTPUT to a "
        "folder with room",
        path, what_failed(error));
}

/// Warns that iterations are not kept one by one.
void complain_of_journal(int error) noexcept {
    if (!may_complain()) return;
    say("warning: there is no room for live data at %s (%s), so a killed job keeps only the snapshots made every "
        "LIBPROFILE_CHECKPOINT; set LIBPROFILE_OUTPUT to a folder with room",
        path, what_failed(error));
}

/// Reads from the kernel how long the thread has waited for a processor so far, in ns. Returns false if that is unknown.
bool read_run_delay(std::uint64_t& ns) noexcept {
    char text[96] = {};
    if (read_small_file("/proc/thread-self/schedstat", text, sizeof text) <= 0) return false;
    char* at = text; // time on the processor, time waiting for one, slices
    char* end = text;
    std::strtoull(at, &end, 10);
    ns = std::strtoull(at = end, &end, 10);
    return end != at;
}

/// Returns libprofile's cost of a snapshot that took `wall` ns, `cpu` of them on the processor. Waiting for the file system counts; waiting for a
/// processor that others use does not.
std::uint64_t cost_of_snapshot(std::uint64_t wall, std::uint64_t cpu, bool is_delay_known, std::uint64_t delay) noexcept {
    if (cpu >= wall) return wall;
    return !is_delay_known || delay >= wall - cpu ? cpu : wall - delay;
}

/// Takes a snapshot of everything measured until `begin`.
void take(Thread& thread, std::uint64_t begin, bool is_full) noexcept {
    live.has_tried = true;
    follow_switch(thread, begin);
    count_until_now(thread);
    std::uint64_t delay = 0, delay_end = 0;
    const bool is_delay_known = read_run_delay(delay);
    const std::uint64_t cpu = thread_cpu_time();
    PhaseStack& phases = thread.phases;
    const bool was_paused = phases.time().is_paused();
    if (was_paused) phases.resume(begin, cpu); // our own time does not belong to the pause
    PhaseStack::Unsettled kept;
    const bool goes_on = !was_paused && thread.loops != nullptr && thread.loops->needs_segment(thread);
    if (goes_on) kept = phases.keep(begin);
    phases.settle(begin, cpu);
    const int error = has_folder() ? write(thread, begin, is_full) : 0;
    if (error != 0)
        complain(error);
    else if (live.file.refusal() != 0)
        complain_of_journal(live.file.refusal());
    if (thread.finished) return; // another thread ended the job meanwhile
    const std::uint64_t cpu_end = thread_cpu_time();
    const bool is_delay_end_known = is_delay_known && read_run_delay(delay_end);
    const std::uint64_t end = session_clock.now();
    const std::uint64_t cpu_taken = cpu_end > cpu ? cpu_end - cpu : 0;
    const std::uint64_t cost = cost_of_snapshot(end - begin, cpu_taken, is_delay_end_known, delay_end - delay);
    // Much of it is waiting for the file system, so it is not all CPU time, unlike other overhead.
    if (goes_on) {
        phases.put_back(kept);
        thread.loops->add_overhead(thread, cost);
    }
    phases.row(thread.tree.overhead())[Metric::Time] += cost;
    phases.time().book_event(cost, cpu_taken < cost ? cpu_taken : cost);
    thread.mark_cpu(end, cpu_end);
    count_own(thread);
    if (was_paused) phases.pause(end, cpu_end);
    if (live.events_ns != 0) plan_events(end, end - begin);
    if (live.interval_ns != 0) checkpoint_due_at.store(due_without_iterations(end), std::memory_order_relaxed);
    live.earliest = is_full ? end + (end - begin) * most_share : 0; // the first one also makes the folder
}

/// Returns true if there is a file to write to: the rank is known, or there will be no other rank.
bool may_write() noexcept { return process.measuring() && process.knows_its_rank(); }

/// Between two iterations of a thread.
bool may_take(const Thread& thread, std::uintptr_t frame) noexcept { return live.process == getpid() && !thread.finished && may_write() && has_stack(frame); }

/// Writes the journal's records from our own memory if that is full or old.
void flush(std::uint64_t now) noexcept {
    const bool is_full = !live.journal.is_running();
    if (live.file.is_mapped() || live.file.memory() == nullptr || (!is_full && now < live.flushed_at + flush_every_ns)) return;
    live.flushed_at = now;
    if (const int error = live.file.flush(path, live.journal.used()); error != 0) {
        live.journal.end();
        live.file.release();
        return complain(error);
    }
    // At three quarters, before an iteration reaches the end, which would cause a snapshot.
    if (live.journal.used() > live.file.size() / 4 * 3 && live.file.rewind()) live.journal.rewind();
}

/// The journal is nearly full. A snapshot makes room before an iteration reaches its end; if it is too soon for one, the file grows.
void make_room(Thread& thread, std::uintptr_t frame) noexcept {
    if (!may_take(thread, frame)) return;
    const std::uint64_t now = session_clock.now();
    if (now >= live.earliest) return take(thread, now, true);
    const std::size_t room = live.file.size() * 2;
    const BlockHeader header = journal_header(room);
    if (room <= largest_extended_room && live.file.extend(path, reinterpret_cast<const unsigned char*>(&header), sizeof header, room))
        live.journal.move(live.file.memory(), room);
}

/// Events of iterations since the last snapshot are lost with a kill. Between iterations it is a good time for one: all of them are over.
void keep_events(Thread& thread, std::uintptr_t frame) noexcept {
    if (live.events_ns == 0) return;
    const std::uint64_t now = session_clock.now(); // first: it costs less than the other questions, and mostly answers
    if (now >= live.events_at && may_take(thread, frame)) take(thread, now, false);
}

} // namespace

void write_checkpoint(std::uintptr_t frame) noexcept {
    if (!may_write()) return;
    const InTool guard;
    if (guard.is_nested()) return; // a handler of the application has interrupted us while we change what a snapshot reads
    const std::uint64_t now = session_clock.now();
    Thread* thread = thread_registry.current();
    // Another thread's checkpoint would lack the main thread, and replace one that has it.
    if (thread == nullptr || thread->finished || thread->index != 0 || !has_stack(frame)) return;
    thread->drop_ended_calls(frame);
    if (thread->call_depth != 0) return;
    if (checkpoint_due_at.load(std::memory_order_relaxed) == 0) begin(*thread, now);
    take(*thread, now, false);
}

void write_due_checkpoint(Thread& thread, std::uintptr_t frame) noexcept {
    const std::uint64_t now = session_clock.now();
    if (checkpoint_due_at.load(std::memory_order_relaxed) == 0) return begin(thread, now);
    if (live.process != getpid() || thread.finished || thread.call_depth != 0 || !may_write() || !is_own_stack(frame) || !has_stack(frame)) return;
    take(thread, now, false);
}

void keep_iterations(Thread& thread, std::uintptr_t frame) noexcept {
    if (checkpoint_due_at.load(std::memory_order_relaxed) == 0) [[unlikely]]
        begin(thread, session_clock.now());
    if (!live.is_missing) {
        if (live.file.memory() == nullptr) return;
        if (!live.file.is_mapped()) [[unlikely]]
            return flush(session_clock.now()), keep_events(thread, frame);
        if (live.journal.used() > live.file.size() / 4 * 3) [[unlikely]]
            return make_room(thread, frame);
        if (live.events_ns != 0) [[unlikely]]
            keep_events(thread, frame);
        return;
    }
    if (!may_take(thread, frame)) return;
    const std::uint64_t now = session_clock.now();
    const bool is_full = live.file.memory() != nullptr;
    if (is_full) flush(now);
    const std::uint64_t earliest = is_full           ? live.earliest
                                   : !live.has_tried ? 0 // the first iteration
                                                     : checkpoint_due_at.load(std::memory_order_relaxed);
    if (now >= earliest) take(thread, now, is_full);
}

void leave_live_file() noexcept {
    if (!may_speak()) return;
    if (live.written_at == 0) return say("warning: a signal handler ended the program in the middle of libprofile's work, so its profile cannot be written");
    say("warning: a signal handler ended the program in the middle of libprofile's work; what was kept until then -> %s (next: libprofile "
        "report %s)",
        output_folder.shown(), output_folder.shown());
}

bool give_room(std::uint64_t bytes) noexcept {
    struct stat file {};
    struct statvfs system {};
    if (path[0] == 0 || stat(path, &file) != 0 || statvfs(path, &system) != 0) return false;
    const std::uint64_t freed = static_cast<std::uint64_t>(file.st_blocks) * 512;
    if (freed + static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize < bytes) return false;
    live.journal.end();
    live.file.release();
    return unlink(path) == 0;
}

void remove_checkpoint(const char* written) noexcept {
    live.journal.end();
    live.file.release();
    if (path[0] == 0 || (written != nullptr && std::strcmp(path, written) == 0)) return;
    unlink(path);
    char* slash = std::strrchr(path, '/');
    *slash = 0;
    const std::size_t length = std::strlen(path);
    if (written == nullptr || std::strncmp(path, written, length) != 0 || written[length] != '/') {
        // The folder was made for the live files of this machine only. The last rank to leave it finds it empty.
        for (const char* name : OutputFolder::small_files) {
            std::snprintf(slash, sizeof path - length, "/%s", name);
            unlink(path);
        }
        *slash = 0;
        rmdir(path);
    }
    path[0] = 0;
}

} // namespace libprofile
