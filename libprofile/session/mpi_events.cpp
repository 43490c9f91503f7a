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
const CallSite& call_site(Thread& thread, unsigned function_id, void* return_address) noexcept {
    const auto hash = reinterpret_cast<std::uintptr_t>(return_address) * 0x9e3779b97f4a7c15u;
    CallSite& site = thread.sites[hash >> 57];
    static_assert(Thread::known_sites == 1u << (64 - 57));
    const std::uint32_t epoch = load_map.epoch();
    if (site.return_address == return_address && site.function_id == function_id && site.epoch == epoch) [[likely]]
        return site;
    const bool is_helper = is_binding_helper_call(mpi_functions[function_id].name, return_address);
    const NodeId node = session.records_call_paths() ? 0 : thread.tree.child(0, NodeKind::Mpi, function_id, 0);
    return site = {return_address, function_id, epoch, node, is_helper};
}

NodeId node_of_call(Thread& thread, const CallSite& site, unsigned function_id, void* return_address) noexcept {
    if (!session.records_call_paths()) return site.function_node;
    unwinder.here(return_address, thread.path);
    NodeId caller = thread.tree.path(thread.path, true);
    if (!thread.path.complete && load_map.is_stale()) {
        // A module was loaded since the last look: in ordinary context the loader may be asked, then the path is whole.
        load_map.refresh();
        unwinder.here(return_address, thread.path);
        caller = thread.tree.path(thread.path, true);
    }
    return thread.tree.child(caller, NodeKind::Mpi, function_id, 0);
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
    Thread* thread = thread_local_block.thread;
    if (thread == nullptr) [[unlikely]] thread = thread_registry.current();
    if (thread == nullptr || (thread->is_silent() && !wakes(*thread, session_clock.now()))) return;
    cheap_ = !session.records_call_paths() && thread->call_depth == 0;
    measures_itself_ = !cheap_ || thread->cheap_event.is_due();
    if (measures_itself_) entered_ = session_clock.now();
    thread->drop_left_calls(own_frame);
    if (thread->call_depth != 0 && is_mpi_library_address(return_address)) return; // MPI calling itself
    if (thread->call_depth == Thread::max_calls) return;
    const CallSite& site = call_site(*thread, function_id, return_address);
    if (site.is_helper) return;
    thread_ = thread;
    level_ = thread->call_depth;
    const NodeId node = node_of_call(*thread, site, function_id, return_address);
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
    if (level_ != 0) thread->calls[level_ - 1].inner += call.start - entered_;
}

void MpiEvent::stop() noexcept {
    if (thread_ == nullptr) return;
    // The flag stays set until the destructor: accounting is libprofile's own time.
    in_tool_before_ = enter_tool(reinterpret_cast<std::uintptr_t>(this));
    stopped_ = true;
    stopped_at_ = session_clock.now();
    if (thread_->finished) { // the job ended while this thread was in here
        row_ = nullptr;
        return;
    }
    RunningCall& call = thread_->calls[level_];
    thread_->call_depth = level_ + 1; // nested calls that were left without returning
    const std::uint64_t wall = stopped_at_ - call.start;
    const std::uint64_t own = wall > call.inner ? wall - call.inner : 0;
    Node& node = *call.node;
    std::uint64_t cpu = own;
    if (call.read_cpu) {
        const std::uint64_t used = thread_cpu_time() - call.cpu_start;
        cpu = used > call.inner ? used - call.inner : 0;
        if (cpu > own) cpu = own;
    } else if (own >= long_event_ns) {
        // Unexpectedly long. Since the last reading the thread is taken to have run until the call began: what is
        // missing in CPU time then, it slept in the call.
        const std::uint64_t now_cpu = thread_cpu_time();
        const std::uint64_t used = now_cpu - thread_->cpu_mark;
        const std::uint64_t before = call.start - thread_->cpu_mark_at;
        cpu = used > before ? used - before : 0;
        if (cpu > own) cpu = own;
        thread_->mark_cpu(stopped_at_, now_cpu);
    }
    const std::int64_t change = static_cast<std::int64_t>(own < UINT32_MAX ? own : UINT32_MAX) - node.typical_ns;
    node.typical_ns = static_cast<std::uint32_t>(node.typical_ns + change / 4);
    (*row_)[Metric::Time] += own;
    thread_->phases.book_event(own, cpu);
    if (level_ != 0) thread_->calls[level_ - 1].inner += wall;
}

void MpiEvent::add(Metric metric, std::uint64_t value) noexcept { (*row_)[metric] += value; }

void MpiEvent::leave_out_of_signature() noexcept { ++row_->chance_visits; }

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
        if (measures_itself_) {
            const std::uint64_t after = session_clock.now() - stopped_at_;
            const std::uint64_t spent = after + thread_->calls[level_].start - entered_;
            thread_->phases.book_overhead(spent);
            if (cheap_) thread_->cheap_event.learn(spent);
            if (level_ != 0) thread_->calls[level_ - 1].inner += after;
        } else {
            thread_->phases.book_overhead(thread_->cheap_event.typical());
        }
    }
    leave_tool(in_tool_before_);
}

void mpi_library_found(const MpiServices* services) noexcept { session.mpi_found(services); }
void mpi_library_unusable(const char* reason) noexcept { session.mpi_unusable(reason); }
void mpi_tool_bypasses_us(const char* tool) noexcept { session.tool_bypasses_us(tool); }
void before_mpi_init(bool is_session) noexcept { session.before_mpi_init(is_session); }
void after_mpi_init(bool is_session, bool succeeded) noexcept { session.after_mpi_init(is_session, succeeded); }
void before_mpi_finalize(void* return_address) noexcept { session.before_mpi_finalize(return_address); }
void before_mpi_session_finalize(void* return_address) noexcept { session.before_session_finalize(return_address); }

} // namespace libprofile
