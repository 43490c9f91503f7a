// What programs do inside MPI's callbacks, random but repeatable: callbacks MODE ROUNDS [SEED].
//   soak      callbacks of every kind; deep in each the program calls MPI, throws, jumps, looks at its stack, or enters another callback.
//             Exceptions are caught in the callback, or outside of the MPI call if MPI allows that
//   threads   one thread after the other ends in a callback: by pthread_exit, cancelled at a point or anywhere
//   exit, quick_exit, _exit, abort, uncaught, pthread_exit, cancel
//             the process ends in a callback (pthread_exit, cancel: its main thread does)
// Prints sums of all that it computed and caught. The exit code is 1 if anything is wrong.
#include <mpi.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <unwind.h>

#pragma GCC diagnostic ignored "-Winfinite-recursion"
#define NOT_INLINED [[gnu::noinline, gnu::noclone, gnu::noipa]]

namespace {

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "callbacks: %s\n", what);
    std::_Exit(1);
}

struct Random {
    std::uint64_t state;
    unsigned below(unsigned limit) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<unsigned>((state >> 33) % limit);
    }
};

enum class Action { Return, Throw, Jump, SignalJump, Trace, UnwinderTrace, Nest, ThreadExit, Cancel, CancelAnywhere, Process };
enum class Kind { Operation, Collective, CommError, RealError, WinError, FileError, AttributeDelete, AttributeCopy, CommCopy, WinAttribute,
                  Request, RequestCancel, count };

/// What the callbacks do next. One at a time: threads follow each other.
struct Task {
    Random random{1};
    Action action = Action::Return;
    bool outside = false; // of the MPI call it is caught, or jumped to
    sigjmp_buf* target = nullptr;
    unsigned nesting = 0;
    std::uint64_t sum = 0, destroyed = 0, caught = 0, jumped = 0, traced = 0, entered = 0;
    std::atomic<bool> waits{false}; // to be cancelled
} task;

const char* process_end = nullptr; // how
const void* outermost = nullptr;   // a return address that each look at the stack must come to
int ranks = 1;

NOT_INLINED std::uint64_t work() {
    std::uint64_t sum = 0;
    for (unsigned i = 0, n = 20 + task.random.below(300); i < n; ++i) sum += i * i;
    return sum;
}

NOT_INLINED std::uint64_t ask_mpi() {
    int answer = 0;
    switch (task.random.below(4)) {
    case 0: MPI_Comm_rank(MPI_COMM_SELF, &answer); return static_cast<unsigned>(answer);
    case 1: MPI_Type_size(MPI_DOUBLE, &answer); return static_cast<unsigned>(answer);
    case 2: {
        int in = 3, out = 4;
        MPI_Reduce_local(&in, &out, 1, MPI_INT, MPI_SUM);
        return static_cast<unsigned>(out);
    }
    default: MPI_Comm_size(MPI_COMM_SELF, &answer); return static_cast<unsigned>(answer);
    }
}

struct Guard {
    ~Guard() {
        task.sum += work() + ask_mpi();
        ++task.destroyed;
    }
};

bool came_to_the_end = false;
unsigned frames_seen = 0;
_Unwind_Reason_Code look(_Unwind_Context* context, void*) {
    came_to_the_end = came_to_the_end || reinterpret_cast<const void*>(_Unwind_GetIP(context)) == outermost;
    work();
    return ++frames_seen > 1000 ? _URC_END_OF_STACK : _URC_NO_REASON;
}
NOT_INLINED void trace(bool by_unwinder) {
    came_to_the_end = false;
    frames_seen = 0;
    const std::uint64_t state = task.random.state; // how many frames there are is nobody's business
    if (by_unwinder) {
        _Unwind_Backtrace(look, nullptr);
    } else {
        void* frames[400];
        const int size = backtrace(frames, 400);
        for (int i = 0; i < size; ++i) came_to_the_end = came_to_the_end || frames[i] == outermost;
    }
    task.random.state = state;
    if (!came_to_the_end) fail("a look at the stack ended early");
    ++task.traced;
}

void enter_some_callback(Kind kind);

[[noreturn]] NOT_INLINED void end_process() {
    const std::string how = process_end;
    if (how == "exit") std::exit(3);
    if (how == "quick_exit") std::quick_exit(4);
    if (how == "_exit") _exit(5);
    if (how == "abort") std::abort();
    if (how == "uncaught") throw std::logic_error("nobody catches this");
    if (how == "pthread_exit") pthread_exit(nullptr);
    pthread_cancel(pthread_self());
    for (;;) pthread_testcancel();
}

NOT_INLINED void act() {
    task.sum += work();
    switch (task.action) {
    case Action::Return: return;
    case Action::Throw: throw std::runtime_error("down here");
    case Action::Jump: std::longjmp(*task.target, 1);
    case Action::SignalJump: siglongjmp(*task.target, 1);
    case Action::Trace: return trace(false);
    case Action::UnwinderTrace: return trace(true);
    case Action::Nest: return enter_some_callback(Kind::Operation);
    case Action::ThreadExit: pthread_exit(nullptr);
    case Action::Cancel:
        task.waits = true;
        for (;;) {
            task.sum += work() & 0;
            pthread_testcancel();
        }
    case Action::CancelAnywhere:
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
        task.waits = true;
        for (;;) asm volatile("");
    case Action::Process: end_process();
    }
}

void descend(unsigned depth);
NOT_INLINED void through_frame(unsigned depth) {
    descend(depth);
    task.sum += 1;
}
NOT_INLINED void through_alloca(unsigned depth) { // a frame found by rbp
    auto* room = static_cast<volatile char*>(__builtin_alloca(16 + depth * 8));
    room[0] = 1;
    descend(depth);
    task.sum += static_cast<unsigned>(room[0]);
}
NOT_INLINED void through_guard(unsigned depth) {
    const Guard guard;
    descend(depth);
}
NOT_INLINED void through_catch(unsigned depth) {
    try {
        const Guard guard;
        descend(depth);
    } catch (const std::runtime_error&) {
        task.sum += work();
        throw; // to the next one out
    }
}
/// Calls MPI on the way down and up: each leaves a mark that lies further in than the call that runs. Which frames there are depends on the
/// depth alone: as in a program, paths come again.
void descend(unsigned depth) {
    if (task.random.below(3) == 0) task.sum += ask_mpi();
    if (depth == 0) return act();
    // A jump may not cross what is to be destroyed.
    const bool jumps = task.action == Action::Jump || task.action == Action::SignalJump;
    switch (depth % (jumps ? 2 : 4)) {
    case 0: through_frame(depth - 1); break;
    case 1: through_alloca(depth - 1); break;
    case 2: through_guard(depth - 1); break;
    default: through_catch(depth - 1); break;
    }
    if (task.random.below(4) == 0) task.sum += ask_mpi();
}

/// The body of all callbacks.
NOT_INLINED void called_back() {
    ++task.entered;
    const unsigned depth = task.random.below(task.nesting == 0 ? 14 : 4);
    if (task.outside || task.action > Action::UnwinderTrace) return descend(depth);
    sigjmp_buf here;
    task.target = &here;
    if (sigsetjmp(here, 0) != 0) {
        ++task.jumped;
        task.sum += work() + ask_mpi();
        return;
    }
    try {
        descend(depth);
    } catch (const std::runtime_error&) {
        ++task.caught;
        task.sum += work() + ask_mpi();
    }
}

void on_operation(void* in, void* out, int* size, MPI_Datatype*) {
    called_back();
    for (int i = 0; i < *size; ++i) static_cast<int*>(out)[i] += static_cast<int*>(in)[i];
}
void on_comm_error(MPI_Comm*, int*, ...) { called_back(); }
void on_win_error(MPI_Win*, int*, ...) { called_back(); }
void on_file_error(MPI_File*, int*, ...) { called_back(); }
int on_comm_delete(MPI_Comm, int, void*, void*) { return called_back(), MPI_SUCCESS; }
int on_type_delete(MPI_Datatype, int, void*, void*) { return called_back(), MPI_SUCCESS; }
int on_win_delete(MPI_Win, int, void*, void*) { return called_back(), MPI_SUCCESS; }
int on_comm_copy(MPI_Comm, int, void*, void* in, void* out, int* flag) {
    called_back();
    *static_cast<void**>(out) = in;
    *flag = 1;
    return MPI_SUCCESS;
}
int on_type_copy(MPI_Datatype, int, void*, void* in, void* out, int* flag) { return on_comm_copy(MPI_COMM_NULL, 0, nullptr, in, out, flag); }
int on_query(void*, MPI_Status* status) {
    called_back();
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}
int on_free(void*) { return called_back(), MPI_SUCCESS; }
int on_cancel(void*, int) { return called_back(), MPI_SUCCESS; }

struct Objects {
    MPI_Op operation;
    MPI_Comm comm, self; // one for each attribute and error handler that the callbacks do not use themselves
    MPI_Win win;
    MPI_Datatype type;
    int comm_key, type_key, win_key;
    MPI_Errhandler on_comm, on_win, on_file;
    int* memory;
} objects;

void make_objects() {
    MPI_Op_create(on_operation, 1, &objects.operation);
    MPI_Comm_dup(MPI_COMM_SELF, &objects.comm);
    MPI_Comm_dup(MPI_COMM_SELF, &objects.self);
    MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &objects.memory, &objects.win);
    MPI_Type_contiguous(3, MPI_INT, &objects.type);
    MPI_Comm_create_keyval(on_comm_copy, on_comm_delete, &objects.comm_key, nullptr);
    MPI_Type_create_keyval(on_type_copy, on_type_delete, &objects.type_key, nullptr);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_win_delete, &objects.win_key, nullptr);
    MPI_Type_set_attr(objects.type, objects.type_key, &objects);
    MPI_Comm_create_errhandler(on_comm_error, &objects.on_comm);
    MPI_Win_create_errhandler(on_win_error, &objects.on_win);
    MPI_File_create_errhandler(on_file_error, &objects.on_file);
    MPI_Comm_set_errhandler(objects.comm, objects.on_comm);
    MPI_Win_set_errhandler(objects.win, objects.on_win);
    MPI_File_set_errhandler(MPI_FILE_NULL, objects.on_file);
}
void free_objects() {
    task.action = Action::Return;
    MPI_Type_free(&objects.type);
    MPI_Win_free(&objects.win);
    MPI_Comm_free(&objects.comm);
    MPI_Comm_free(&objects.self);
    MPI_Op_free(&objects.operation);
}

NOT_INLINED void use_request(bool cancel) {
    MPI_Request request;
    MPI_Grequest_start(on_query, on_free, on_cancel, nullptr, &request);
    if (cancel) MPI_Cancel(&request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

NOT_INLINED void enter(Kind kind) {
    int in[2] = {1, 2}, out[2] = {3, 4};
    char byte = 0;
    switch (kind) {
    case Kind::Collective:
        if (ranks > 1) return void(MPI_Allreduce(in, out, 2, MPI_INT, objects.operation, MPI_COMM_WORLD));
        [[fallthrough]];
    case Kind::Operation: MPI_Reduce_local(in, out, 2, MPI_INT, objects.operation); break;
    case Kind::CommError: MPI_Comm_call_errhandler(objects.comm, MPI_ERR_OTHER); break;
    case Kind::RealError: MPI_Send(&byte, 1, MPI_CHAR, 9999, 0, objects.comm); break;
    case Kind::WinError: MPI_Win_call_errhandler(objects.win, MPI_ERR_OTHER); break;
    case Kind::FileError: {
        MPI_File file;
        MPI_File_open(MPI_COMM_SELF, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
        break;
    }
    case Kind::AttributeDelete:
        MPI_Comm_set_attr(objects.comm, objects.comm_key, &objects);
        MPI_Comm_delete_attr(objects.comm, objects.comm_key);
        break;
    case Kind::AttributeCopy: {
        MPI_Datatype copy;
        MPI_Type_dup(objects.type, &copy);
        MPI_Type_free(&copy);
        break;
    }
    case Kind::CommCopy: {
        MPI_Comm copy;
        MPI_Comm_set_attr(objects.self, objects.comm_key, &objects);
        MPI_Comm_dup(objects.self, &copy);
        MPI_Comm_free(&copy);
        break;
    }
    case Kind::WinAttribute:
        MPI_Win_set_attr(objects.win, objects.win_key, &objects);
        MPI_Win_delete_attr(objects.win, objects.win_key);
        break;
    case Kind::Request: use_request(false); break;
    default: use_request(true); break;
    }
    task.sum += static_cast<unsigned>(out[0]);
}

/// From a callback: another one, in which the same may happen.
void enter_some_callback(Kind kind) {
    const Action outer = task.action;
    constexpr Action actions[] = {Action::Return, Action::Throw, Action::Jump, Action::Trace, Action::Nest};
    task.action = task.nesting > 1 ? Action::Return : actions[task.random.below(5)];
    ++task.nesting;
    enter(kind);
    --task.nesting;
    task.action = outer;
}

NOT_INLINED void leave(Kind kind, unsigned depth) { // what leaves the MPI call goes on for some frames
    if (depth == 0)
        enter(kind);
    else
        leave(kind, depth - 1);
    task.sum += 1;
}

NOT_INLINED void one_round(Kind kind) {
    constexpr Action actions[] = {Action::Throw, Action::Throw, Action::Throw,         Action::Jump, Action::SignalJump,
                                  Action::Jump,  Action::Trace, Action::UnwinderTrace, Action::Nest, Action::Return};
    task.action = actions[task.random.below(10)];
    const bool is_left = kind == Kind::Operation || kind == Kind::CommError || kind == Kind::RealError;
    const bool leaves = task.action <= Action::SignalJump && task.action != Action::Return;
    task.outside = is_left && leaves && task.random.below(2) == 0;
    if (!task.outside) return enter(kind);
    const unsigned depth = task.random.below(5);
    sigjmp_buf here;
    task.target = &here;
    if (sigsetjmp(here, 0) != 0) {
        ++task.jumped;
        task.sum += work() + ask_mpi();
        return;
    }
    try {
        leave(kind, depth);
        fail("nobody left");
    } catch (const std::runtime_error&) {
        ++task.caught;
        task.sum += work() + ask_mpi();
    }
}

NOT_INLINED void soak(unsigned rounds) {
    outermost = __builtin_return_address(0);
    for (unsigned i = 0; i < rounds; ++i) one_round(static_cast<Kind>(i % static_cast<unsigned>(Kind::count)));
}

/// Libraries of MPI have threads of their own, so that a process whose main thread ends stays.
void* end_after(void* main_thread) {
    void* result = nullptr;
    pthread_join(*static_cast<pthread_t*>(main_thread), &result);
    std::printf("the main thread was %s\n", result == PTHREAD_CANCELED ? "cancelled" : "ended");
    std::fflush(stdout);
    _exit(6);
}

struct Ended {
    ~Ended() { ++task.destroyed; }
};
void* thread_in_callback(void*) {
    const Ended ended;
    constexpr Kind kinds[] = {Kind::Operation, Kind::CommError, Kind::RealError};
    leave(kinds[task.random.below(3)], task.random.below(6));
    fail("a thread came back");
}
void threads(unsigned rounds) {
    for (unsigned i = 0; i < rounds; ++i) {
        constexpr Action actions[] = {Action::ThreadExit, Action::Cancel, Action::CancelAnywhere};
        task.action = actions[i % 3];
        task.outside = true;
        task.waits = false;
        const std::uint64_t state = task.random.state;
        pthread_t thread;
        void* result = nullptr;
        if (pthread_create(&thread, nullptr, thread_in_callback, nullptr) != 0) fail("no thread");
        if (task.action != Action::ThreadExit) {
            while (!task.waits) sched_yield();
            pthread_cancel(thread);
        }
        pthread_join(thread, &result);
        if ((result == PTHREAD_CANCELED) != (task.action != Action::ThreadExit)) fail("a thread ended in another way");
        task.random.state = state * 2862933555777941757u + 3037000493u; // a cancelled one may have drawn any number
    }
}

} // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const std::string mode = argc > 1 ? argv[1] : "soak";
    const auto rounds = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1000);
    task.random.state = (argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1) * 0x9e3779b97f4a7c15u + 1;
    make_objects();
    if (mode == "threads") {
        threads(rounds);
        std::printf("threads: %llu callbacks, %llu destroyed\n", static_cast<unsigned long long>(task.entered),
                    static_cast<unsigned long long>(task.destroyed));
    } else {
        soak(rounds);
        std::printf("soak: %llu, %llu callbacks, %llu destroyed, %llu caught, %llu jumped, %llu traced\n", static_cast<unsigned long long>(task.sum),
                    static_cast<unsigned long long>(task.entered), static_cast<unsigned long long>(task.destroyed),
                    static_cast<unsigned long long>(task.caught), static_cast<unsigned long long>(task.jumped),
                    static_cast<unsigned long long>(task.traced));
    }
    std::fflush(stdout);
    if (mode != "threads" && mode != "soak") {
        process_end = argv[1];
        static pthread_t self = pthread_self();
        pthread_t thread;
        if (mode == "pthread_exit" || mode == "cancel") pthread_create(&thread, nullptr, end_after, &self);
        task.action = Action::Process;
        task.outside = true;
        leave(Kind::Operation, 5);
    }
    free_objects();
    MPI_Finalize();
    return 0;
}
