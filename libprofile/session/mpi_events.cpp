#include "libprofile/session/mpi_events.hpp"

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/session/clock.hpp"
#include "libprofile/session/recording.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/session/thread_registry.hpp"
#include "wrappers/mpi/binding_helpers.hpp"
#include "wrappers/mpi/mpi_modules.hpp"

namespace libprofile {

namespace {

/// Reading the thread's CPU time costs 2 x 0.2 us, so it is done for calls that usually last: there it tells waiting on
/// the processor from sleeping. Shorter calls are taken to run all the time.
constexpr std::uint64_t long_event_ns = 50000;

/// The place that calls, as remembered by the thread.
CallSite& call_site(Thread& thread, unsigned function_id, void* return_address) noexcept {
    const auto hash = reinterpret_cast<std::uintptr_t>(return_address) * 0x9e3779b97f4a7c15u;
    CallSite& site = thread.sites[hash >> 57];
    static_assert(Thread::known_sites == 1u << (64 - 57));
    if (site.is_at(return_address, function_id, load_map.epoch())) [[likely]]
        return site;
    site.return_address = return_address;
    site.function_id = function_id;
    site.epoch = load_map.epoch();
    site.polls = {};
    site.is_helper = is_binding_helper_call(mpi_functions[function_id].name, return_address);
    if (!session.records_call_paths()) site.function_node = thread.tree.child(0, NodeKind::Mpi, function_id, 0);
    return site;
}

/// Where the paths of such calls are remembered; nullptr: nowhere, memory ran out.
Thread::KnownPaths* known_paths(Thread& thread, const void* return_address, std::uintptr_t frame) noexcept {
    if (thread.known_paths == nullptr) [[unlikely]] {
        thread.known_paths = thread.arena.array<Thread::KnownPaths>(Thread::known_path_sets);
        if (thread.known_paths == nullptr) return nullptr;
    }
    const auto hash = (reinterpret_cast<std::uintptr_t>(return_address) ^ (frame << 16)) * 0x9e3779b97f4a7c15u;
    static_assert(Thread::known_path_sets == 1u << (64 - 58));
    return &thread.known_paths[hash >> 58];
}

/// Whether the call's node is known without a walk over the stack.
bool is_path_known(Thread& thread, const KnownPath& known, const CallSite& site, std::uintptr_t frame) noexcept {
    return known.return_address == site.return_address && known.function == site.function_id && known.epoch == site.epoch &&
           thread.paths.is_unchanged(known, frame);
}

/// The path of the call if it is known without a walk, else nullptr.
const KnownPath* find_known_path(Thread& thread, Thread::KnownPaths* paths, const CallSite& site, std::uintptr_t frame) noexcept {
    if (paths == nullptr) return nullptr;
    for (std::uint32_t i = 0; i < Thread::KnownPaths::ways; ++i) {
        const std::uint32_t at = (paths->last + i) % Thread::KnownPaths::ways;
        if (!is_path_known(thread, paths->path[at], site, frame)) continue;
        paths->last = at;
        return &paths->path[at];
    }
    return nullptr;
}

/// The node of a call whose path must be found. `path`: where it is remembered.
NodeId find_node(Thread& thread, Thread::KnownPaths* paths, const CallSite& site, std::uintptr_t frame,
                 const KnownPath*& path) noexcept {
    const NodeId caller = thread.paths.at_call(frame);
    const NodeId node = thread.tree.child(caller, NodeKind::Mpi, site.function_id, 0);
    if (paths == nullptr) return node;
    paths->last = (paths->last + 1) % Thread::KnownPaths::ways;
    KnownPath& known = paths->path[paths->last];
    known.return_address = site.return_address;
    known.function = site.function_id;
    thread.paths.remember(known, frame, node);
    path = &known;
    return node;
}

} // namespace

MpiEvent::MpiEvent(unsigned function_id, void* return_address, void* frame) noexcept {
    const auto own_frame = reinterpret_cast<std::uintptr_t>(frame);
    if (!session.recording()) [[unlikely]] {
        if (session.state() == SessionState::Idle) session.start();
        if (!session.recording()) {
            if (session.measuring()) {
                unrecorded_ = !is_mpi_library_address(return_address);
                follow_unrecorded_call(own_frame);
            }
            return;
        }
    }
    const InTool guard;
    // A signal handler of the application has interrupted us and calls MPI: nothing here may be entered twice.
    if (guard.is_nested()) [[unlikely]] return;
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr) [[unlikely]] thread = thread_registry.current();
    if (thread == nullptr || (thread->is_silent() && !wakes(*thread, session_clock.now()))) return;
    thread->drop_left_calls(own_frame);
    level_ = thread->call_depth;
    if (level_ == 0 && continues_polls(*thread, function_id, return_address, own_frame)) return;
    measures_itself_ = level_ != 0 || thread->cheap_event.is_due();
    if (measures_itself_) entered_ = session_clock.now();
    if (level_ != 0 && is_mpi_library_address(return_address)) return; // MPI calling itself
    if (level_ == Thread::max_calls) return;
    CallSite& site = call_site(*thread, function_id, return_address);
    if (site.is_helper) return;
    thread_ = thread;
    site_ = &site;
    NodeId node = site.function_node;
    cheap_ = true;
    if (session.records_call_paths()) {
        Thread::KnownPaths* paths = known_paths(*thread, return_address, own_frame);
        path_ = find_known_path(*thread, paths, site, own_frame);
        cheap_ = path_ != nullptr;
        if (!cheap_ && !measures_itself_) {
            measures_itself_ = true;
            entered_ = session_clock.now();
        }
        if (cheap_) {
            node = path_->node;
            if (thread->paths.is_to_be_checked()) [[unlikely]] node = thread->paths.check_call(*path_, own_frame);
        } else {
            node = find_node(*thread, paths, site, own_frame, path_);
        }
    }
    cheap_ = cheap_ && level_ == 0;
    row_ = &thread->phases.row(node);
    row_->is_event = true;
    ++(*row_)[Metric::Visits];
    RunningCall& call = thread->calls[level_];
    call.row = row_;
    call.node = &thread->tree[node];
    call.inner = 0;
    call.frame = own_frame;
    call.return_address = return_address;
    call.read_cpu = call.node->typical_ns >= long_event_ns;
    if (call.read_cpu) [[unlikely]] call.cpu_start = thread_cpu_time();
    thread->call_depth = level_ + 1;
    call.start = session_clock.now();
    if (level_ != 0) {
        thread->calls[level_ - 1].inner += call.start - entered_;
        thread->phases.polls().is_disturbed = true; // what the run rests on may have been replaced
    } else if (thread->phases.polls().site != nullptr) {
        thread->phases.end_polls(measures_itself_ ? entered_ : call.start);
    }
}

/// One more of a run of unsuccessful polls, until proved otherwise: all but its time is as it was at the last one.
bool MpiEvent::continues_polls(Thread& thread, unsigned function_id, void* return_address, std::uintptr_t frame) noexcept {
    PollRun& run = thread.phases.polls();
    const auto* site = static_cast<const CallSite*>(run.site);
    if (site == nullptr || !site->is_at(return_address, function_id, load_map.epoch())) return false;
    const auto* path = static_cast<const KnownPath*>(run.path);
    if (path != nullptr && !is_path_known(thread, *path, *site, frame)) return false;
    if (thread.paths.is_to_be_checked()) [[unlikely]] return false;
    thread_ = &thread;
    row_ = run.row;
    polls_ = true;
    ++(*row_)[Metric::Visits];
    thread.calls[0].inner = 0;
    thread.calls[0].frame = frame;
    thread.calls[0].return_address = return_address;
    thread.call_depth = 1;
    is_timed_ = run.is_due();
    if (is_timed_) thread.calls[0].start = session_clock.now();
    return true;
}

/// The end of such a poll. It is timed only now if it was successful, or is one of those that stand for the others.
void MpiEvent::end_poll() noexcept {
    PollRun& run = thread_->phases.polls();
    RunningCall& call = thread_->calls[0];
    if (is_timed_) {
        const std::uint64_t wall = stopped_at_ - call.start;
        const std::uint64_t own = wall > call.inner ? wall - call.inner : 0;
        run.statistics->add(!unsuccessful_, own);
        if (unsuccessful_) {
            ++run.timed;
            run.timed_ns += own;
        }
        (*row_)[Metric::Time] += own;
        thread_->phases.book_event(own, own >= long_event_ns ? cpu_of_long_call(call.start, own) : own);
        thread_->phases.book_overhead(run.own_ns);
    } else {
        ++(unsuccessful_ ? run.untimed : run.found_untimed);
    }
    if (!unsuccessful_ || run.is_disturbed) thread_->phases.end_polls(session_clock.now());
}

/// Of a call that began at `start` and was unexpectedly long. Since the last reading the thread is taken to have run until
/// the call began: what is missing in CPU time then, it slept in the call.
std::uint64_t MpiEvent::cpu_of_long_call(std::uint64_t start, std::uint64_t own) noexcept {
    const std::uint64_t now_cpu = thread_cpu_time();
    const std::uint64_t used = now_cpu - thread_->cpu_mark;
    const std::uint64_t before = start - thread_->cpu_mark_at;
    const std::uint64_t cpu = used > before ? used - before : 0;
    thread_->mark_cpu(stopped_at_, now_cpu);
    return cpu < own ? cpu : own;
}

void MpiEvent::stop() noexcept {
    if (thread_ == nullptr) return;
    // The flag stays set until the destructor: accounting is libprofile's own time.
    in_tool_before_ = enter_tool(reinterpret_cast<std::uintptr_t>(this));
    stopped_ = true;
    if (!polls_ || is_timed_) stopped_at_ = session_clock.now();
    if (thread_->finished) { // the job ended while this thread was in here
        row_ = nullptr;
        return;
    }
    thread_->call_depth = level_ + 1; // nested calls that were left without returning
    if (polls_) return;
    RunningCall& call = thread_->calls[level_];
    const std::uint64_t wall = stopped_at_ - call.start;
    const std::uint64_t own = wall > call.inner ? wall - call.inner : 0;
    Node& node = *call.node;
    std::uint64_t cpu = own;
    if (call.read_cpu) {
        const std::uint64_t used = thread_cpu_time() - call.cpu_start;
        cpu = used > call.inner ? used - call.inner : 0;
        if (cpu > own) cpu = own;
    } else if (own >= long_event_ns) {
        cpu = cpu_of_long_call(call.start, own);
    }
    const std::int64_t change = static_cast<std::int64_t>(own < UINT32_MAX ? own : UINT32_MAX) - node.typical_ns;
    node.typical_ns = static_cast<std::uint32_t>(node.typical_ns + change / 4);
    (*row_)[Metric::Time] += own;
    thread_->phases.book_event(own, cpu);
    if (level_ != 0) thread_->calls[level_ - 1].inner += wall;
}

void MpiEvent::add(Metric metric, std::uint64_t value) noexcept { (*row_)[metric] += value; }

void MpiEvent::leave_out_of_signature() noexcept { ++row_->chance_visits; }

void MpiEvent::was_unsuccessful() noexcept {
    leave_out_of_signature();
    unsuccessful_ = true;
}

void MpiEvent::count_lost_requests(std::uint64_t requests) const noexcept { thread_->requests_lost += requests; }

void* MpiEvent::scratch(std::uint64_t bytes) const noexcept {
    if (row_ == nullptr) return nullptr;
    const InTool guard;
    Thread::Scratch& own = thread_->scratch[level_]; // a call that was left by longjmp leaves its level, and the pages with it
    if (bytes > own.size) {
        const std::uint64_t wanted = (bytes + bytes / 2 + 4095) & ~std::uint64_t{4095};
        if (own.pages != nullptr) memory_quota.unmap(own.pages, own.size);
        own.pages = memory_quota.map(wanted);
        own.size = own.pages == nullptr ? 0 : wanted;
    }
    return own.pages;
}

MpiEvent::~MpiEvent() noexcept {
    if (thread_ == nullptr) return;
    if (!stopped_) stop();
    if (!thread_->finished) {
        thread_->call_depth = level_;
        if (polls_) {
            end_poll();
        } else if (measures_itself_) {
            const std::uint64_t after = session_clock.now() - stopped_at_;
            const std::uint64_t spent = after + thread_->calls[level_].start - entered_;
            thread_->phases.book_overhead(spent);
            if (cheap_) thread_->cheap_event.learn(spent);
            if (level_ != 0) thread_->calls[level_ - 1].inner += after;
        } else {
            thread_->phases.book_overhead(thread_->cheap_event.typical());
        }
        if (unsuccessful_ && cheap_ && thread_->calls[0].node->typical_ns < long_event_ns) {
            thread_->phases.begin_polls(site_, path_, site_->polls, *row_, stopped_at_, stopped_at_ - thread_->calls[0].start,
                                        thread_->cheap_event.typical());
        }
    }
    leave_tool(in_tool_before_);
}

void mpi_library_found(const MpiServices* services) noexcept { session.mpi_found(services); }
void mpi_library_unusable(const char* reason) noexcept { session.mpi_unusable(reason); }
void mpi_tool_bypasses_us(const char* tool) noexcept { session.tool_bypasses_us(tool); }
void before_mpi_init(bool is_session) noexcept { session.before_mpi_init(is_session); }
void after_mpi_init(bool is_session, bool succeeded) noexcept { session.after_mpi_init(is_session, succeeded); }
void before_mpi_finalize(void* frame) noexcept { session.before_mpi_finalize(reinterpret_cast<std::uintptr_t>(frame)); }
void before_mpi_session_finalize(void* frame) noexcept {
    session.before_session_finalize(reinterpret_cast<std::uintptr_t>(frame));
}

} // namespace libprofile
