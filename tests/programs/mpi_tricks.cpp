// Exceptions, signals and plug-ins around MPI calls: mpi_tricks MODE [PLUGIN PLUGIN]. One rank. Prints one line. The exit code is 1 if
// anything is wrong.
//   callbacks   exceptions and longjmp leave MPI's error handlers
//   handlers    a signal handler calls MPI wherever it interrupts, on the thread's stack and on another one
//   plugins     a thread opens and closes plug-ins while the main thread computes in another one and calls MPI
//   stepping    a handler runs after each instruction of the program: it looks at the stack, calls MPI, jumps away or
//               forks
#include <mpi.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Winfinite-recursion"
#define NOT_INLINED [[gnu::noinline, gnu::noclone, gnu::noipa]]

namespace {

volatile std::uint64_t keep = 0;

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "mpi_tricks: %s\n", what);
    std::_Exit(1);
}

double cpu_time() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

NOT_INLINED std::uint64_t spin(unsigned rounds) {
    std::uint64_t x = rounds + 1;
    for (unsigned i = 0; i < rounds; ++i) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

void ask_mpi() {
    int rank = -1;
    int flag = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    if (rank != 0 || flag != 0) fail("a wrong answer");
}

NOT_INLINED std::uint64_t climb(unsigned depth) {
    std::uint64_t sum = spin(60);
    if (depth != 0)
        sum += climb(depth - 1);
    else
        ask_mpi();
    return sum + spin(40);
}

// callbacks

bool to_throw = false;
std::jmp_buf left;
void leave_call(MPI_Comm*, int*, ...) {
    keep = keep + spin(300);
    if (to_throw) throw std::runtime_error("MPI");
    std::longjmp(left, 1);
}
struct Count {
    explicit Count(int& counter) : count(counter) {}
    ~Count() {
        keep = keep + climb(4);
        ++count;
    }
    int& count;
};
NOT_INLINED void send_to_nobody(unsigned depth) {
    if (depth != 0) return send_to_nobody(depth - 1), void(keep = keep + 1);
    char byte = 0;
    MPI_Send(&byte, 1, MPI_CHAR, 9999, 0, MPI_COMM_WORLD);
}
NOT_INLINED void send_with_destructors(unsigned depth, int& destroyed) {
    const Count count(destroyed);
    if (depth == 0) return send_to_nobody(2);
    send_with_destructors(depth - 1, destroyed);
    keep = keep + 1;
}
void callbacks() {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(leave_call, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    unsigned depth = 0;
    volatile int jumped = 0;
    for (const double end = cpu_time() + 1.5; cpu_time() < end; depth = (depth + 1) % 15) {
        to_throw = true;
        int destroyed = 0;
        try {
            send_with_destructors(depth, destroyed);
            fail("nothing was thrown");
        } catch (const std::runtime_error&) {
            keep = keep + climb(3);
        }
        if (destroyed != static_cast<int>(depth) + 1) fail("destructors did not run");
        to_throw = false;
        if (setjmp(left) == 0) {
            send_to_nobody(3);
            fail("nobody jumped");
        }
        jumped = jumped + 1;
        keep = keep + climb(5);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

// handlers

volatile int handled = 0;
void call_mpi_in_handler(int) {
    int rank = -1;
    int done = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Initialized(&done);
    if (rank != 0 || done == 0) fail("a wrong answer");
    keep = keep + spin(200);
    void* frames[20];
    if (handled % 3 == 0) keep = keep + static_cast<unsigned>(backtrace(frames, 20));
    handled = handled + 1;
}
void handlers() {
    static char room[65536];
    stack_t stack{};
    stack.ss_sp = room;
    stack.ss_size = sizeof room;
    sigaltstack(&stack, nullptr);
    const itimerval often{{0, 500}, {0, 500}};
    const itimerval never{};
    for (const int flags : {SA_RESTART, SA_RESTART | SA_ONSTACK}) {
        struct sigaction action {};
        action.sa_handler = call_mpi_in_handler;
        action.sa_flags = flags;
        sigaction(SIGALRM, &action, nullptr);
        setitimer(ITIMER_REAL, &often, nullptr);
        handled = 0;
        unsigned depth = 0;
        for (const double end = cpu_time() + 1.0; cpu_time() < end; depth = (depth + 1) % 25) keep = keep + climb(depth);
        setitimer(ITIMER_REAL, &never, nullptr);
        if (handled < 10) fail("the handler did not run");
    }
}

// plugins

struct Plugin {
    void* handle;
    std::uint64_t (*climb)(unsigned depth, void (*bottom)());
};
Plugin open_plugin(const char* path) {
    Plugin plugin{dlopen(path, RTLD_NOW | RTLD_LOCAL), nullptr};
    if (plugin.handle == nullptr) fail(dlerror());
    plugin.climb = reinterpret_cast<std::uint64_t (*)(unsigned, void (*)())>(dlsym(plugin.handle, "plugin_climb"));
    if (plugin.climb == nullptr) fail("no plugin_climb");
    return plugin;
}
volatile bool stop = false;
void* open_and_close(void* path) {
    while (!stop) {
        const Plugin plugin = open_plugin(static_cast<const char*>(path));
        keep = keep + plugin.climb(10, nullptr);
        dlclose(plugin.handle);
    }
    return nullptr;
}
const char* other_plugin = nullptr;
void close_another() { // while this plug-in is on the stack
    ask_mpi();
    const Plugin other = open_plugin(other_plugin);
    keep = keep + other.climb(3, ask_mpi);
    dlclose(other.handle);
    ask_mpi();
}
void plugins(const char* first, const char* second) {
    other_plugin = second;
    pthread_t thread;
    pthread_create(&thread, nullptr, open_and_close, const_cast<char*>(second));
    unsigned depth = 0;
    for (const double end = cpu_time() + 2.0; cpu_time() < end; depth = (depth + 1) % 10) {
        const Plugin plugin = open_plugin(first); // mostly at the address of the last time
        const std::uint64_t sum = plugin.climb(depth, close_another);
        for (int i = 0; i < 50; ++i)
            if (plugin.climb(depth, ask_mpi) != sum) fail("a sum is wrong");
        dlclose(plugin.handle);
    }
    stop = true;
    pthread_join(thread, nullptr);
}

// stepping, which a program can do to itself on x86-64

#if defined(__x86_64__)
// A passage through the mark is an arrival in the library by a return instruction. Within it each instruction gets its turn
// to be interrupted, and each of the actions.
std::uintptr_t library_start = 0;
std::uintptr_t library_end = 0;
int find_library(dl_phdr_info* info, std::size_t, void*) {
    if (std::strstr(info->dlpi_name, "libprofile.so") == nullptr) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        if (library_start == 0) library_start = info->dlpi_addr + header.p_vaddr;
        library_end = info->dlpi_addr + header.p_vaddr + header.p_memsz;
    }
    return 1;
}

sigjmp_buf step_again;
volatile unsigned passage = 0;
volatile unsigned step = 0; // inside it; 0: outside
volatile unsigned longest = 0;
volatile std::uintptr_t before = 0;
pid_t parent = 0;
constexpr std::uint64_t trap_flag = 0x100;

void on_step(int, siginfo_t*, void* data) {
    auto* registers = static_cast<ucontext_t*>(data)->uc_mcontext.gregs;
    const auto address = static_cast<std::uintptr_t>(registers[REG_RIP]);
    const bool inside = address >= library_start && address < library_end;
    const bool returned = before != 0 && *reinterpret_cast<const unsigned char*>(before) == 0xc3;
    before = inside ? 0 : address;
    if (!inside) step = 0;
    if (!inside || (step == 0 && !returned)) return;
    if (step == 0) passage = passage + 1;
    step = step + 1;
    if (longest < step) longest = step;
    if (step != 1 + passage / 4 % longest) return;
    void* frames[40];
    int rank = 0;
    switch (passage % 4) {
    case 0: keep = keep + static_cast<unsigned>(backtrace(frames, 40)); break;
    case 1: MPI_Comm_rank(MPI_COMM_WORLD, &rank); break;
    case 2:
        siglongjmp(step_again, 1);
    default:
        if (passage % 16 != 3) break;
        const pid_t child = fork();
        if (child == 0) { // returns through the mark and through what was interrupted
            registers[REG_EFL] &= ~static_cast<greg_t>(trap_flag);
            return;
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 5)
            fail("a child ended in another way");
    }
}

void set_trap_flag() { asm volatile("subq $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; addq $128, %%rsp" ::: "memory", "cc"); }
void clear_trap_flag() { asm volatile("subq $128, %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; addq $128, %%rsp" ::: "memory", "cc"); }

NOT_INLINED std::uint64_t stepped_climb(unsigned depth) {
    std::uint64_t sum = 1;
    if (depth != 0) {
        sum += stepped_climb(depth - 1);
    } else {
        ask_mpi(); // which may mark
        step = 0;
        before = 0;
        set_trap_flag();
    }
    return sum + spin(1);
}

void stepping() {
    dl_iterate_phdr(find_library, nullptr);
    parent = getpid();
    void* frames[4];
    backtrace(frames, 4); // loads what it needs
    struct sigaction action {};
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO;
    sigfillset(&action.sa_mask); // nobody shall interrupt the handler
    sigaction(SIGTRAP, &action, nullptr);
    volatile unsigned depth = 0;
    for (const double end = cpu_time() + 2.5; cpu_time() < end; depth = (depth + 1) % 3) {
        if (sigsetjmp(step_again, 1) == 0) {
            const std::uint64_t sum = stepped_climb(12 + depth);
            clear_trap_flag();
            if (sum != (13 + depth) * (1 + spin(1))) fail("a sum is wrong");
            if (getpid() != parent) _exit(5);
        }
        clear_trap_flag();
    }
    signal(SIGTRAP, SIG_DFL);
    if (std::getenv("SHOW_PASSAGES") != nullptr) std::fprintf(stderr, "passages %u, the longest of %u instructions\n", passage, longest);
}
#endif

} // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "callbacks") callbacks();
    if (mode == "handlers") handlers();
    if (mode == "plugins" && argc > 3) plugins(argv[2], argv[3]);
#if defined(__x86_64__)
    if (mode == "stepping") stepping();
#endif
    MPI_Finalize();
    std::printf("mpi_tricks %s: survived\n", mode.c_str());
    return 0;
}
