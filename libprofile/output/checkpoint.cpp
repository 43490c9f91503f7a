#include "libprofile/output/checkpoint.hpp"

#include "libprofile/output/file_end.hpp"
#include "libprofile/output/file_start.hpp"
#include "libprofile/output/finalize.hpp"
#include "libprofile/output/output_folder.hpp"
#include "libprofile/output/profile_writer.hpp"
#include "libprofile/output/serializer.hpp"
#include "libprofile/session/messages.hpp"
#include "libprofile/session/process_state.hpp"
#include "libprofile/session/recording.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/session/thread_registry.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace libprofile {

namespace {

std::atomic_flag busy = ATOMIC_FLAG_INIT; // one thread writes; another one that wants to has its data in the next
char path[OutputFolder::path_size + 64] = {}; // of the last checkpoint; empty: none
bool complained = false;
bool without_folder = false;

/// Rank 0 makes the folder at MPI_Init, and has said so if it could not; asking again would say it again.
bool has_folder() noexcept {
    if (!output_folder.ready() && !without_folder)
        without_folder = !(session.output() == Output::OneProcess ? output_folder.create() : output_folder.join());
    return output_folder.ready();
}

/// Small stacks are those of threads mostly; a few programs run main on one.
bool has_stack(std::uintptr_t frame) noexcept {
    constexpr std::uintptr_t needed = 64 << 10;
    return !is_own_stack(frame) || frame - thread_local_block.stack_low >= needed;
}

/// errno
int write(Thread& thread, std::uint64_t now) noexcept {
    BlockBuffer buffer;
    RankSummary summary;
    RankPlace place{};
    if (!write_file_start(buffer, 1, 0) || !write_rank(buffer, false, summary, {&thread, now}) ||
        !write_directory(buffer, static_cast<std::uint32_t>(session.job().rank), place) || !append_file_end(buffer, place))
        return ENOMEM;
    char name[64];
    std::snprintf(name, sizeof name, "rank-%d.lprof", session.job().rank);
    output_folder.file(name, path);
    return replace_file(path, buffer.data(), buffer.size());
}

} // namespace

void write_checkpoint(std::uintptr_t frame) noexcept {
    if (!session.measuring() || !session.rank_is_known()) return;
    const InTool guard;
    const std::uint64_t begin = session_clock.now();
    Thread* thread = thread_registry.current();
    if (thread == nullptr || thread->finished) return;
    // Another thread's checkpoint would lack the main thread, and take the place of one that has it.
    if (thread->index != 0 || !has_stack(frame)) return;
    thread->drop_left_calls(frame);
    if (thread->call_depth != 0 || busy.test_and_set(std::memory_order_acquire)) return;
    follow_switch(*thread, begin);
    const std::uint64_t cpu = thread_cpu_time();
    PhaseStack& phases = thread->phases;
    const bool was_paused = phases.is_paused();
    if (was_paused) phases.resume(begin, cpu); // our own time is no part of the pause
    phases.settle(begin, cpu);
    const int error = has_folder() ? write(*thread, begin) : 0;
    if (error != 0 && !complained && (session.job().rank == 0 || session.output() == Output::OneProcess)) {
        complained = true;
        say("warning: cannot write the checkpoint %s (%s), so nothing is kept of the job if it is killed; set LIBPROFILE_OUTPUT "
            "to a folder with room",
            path, std::strerror(error));
    }
    busy.clear(std::memory_order_release);
    if (thread->finished) return; // another thread ended the job meanwhile
    const std::uint64_t end = session_clock.now();
    const std::uint64_t cpu_end = thread_cpu_time();
    // Much of it is waiting for the file system, so unlike other overhead it is not all CPU time.
    phases.row(thread->tree.overhead())[Metric::Time] += end - begin;
    phases.book_event(end - begin, cpu_end > cpu ? cpu_end - cpu : 0);
    thread->mark_cpu(end, cpu_end);
    if (was_paused) phases.pause(end, cpu_end);
}

void remove_checkpoint(const char* written) noexcept {
    if (path[0] == 0 || std::strcmp(path, written) == 0) return;
    unlink(path);
    char* slash = std::strrchr(path, '/');
    *slash = 0;
    const std::size_t length = std::strlen(path);
    if (std::strncmp(path, written, length) != 0 || written[length] != '/') {
        // A folder for the checkpoints of this machine only. The last rank to leave it finds it empty.
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
