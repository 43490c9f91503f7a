// harsh_regions MODE: errors that real programs make with regions. Prints how often leaf() ran.
//   throw    an exception from 4000 calls deep, caught below what is kept open
//   jump     the same by longjmp
//   handler  a signal handler that jumps out of whatever runs
//   signals  a signal handler that visits a function and a named region 300 times, mostly inside hooks
//   names    100000 names, 100000 open at once
//   made     functions whose code is made at run time, entered and left 5 times before main() and 7 times inside functions, and left once by a jump
#include <libprofile.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/time.h>

extern "C" void __cyg_profile_func_enter(void*, void*);
extern "C" void __cyg_profile_func_exit(void*, void*);

namespace work {

volatile int sink = 0;
volatile int leaves = 0;
std::jmp_buf environment;
sigjmp_buf before_signal;

[[gnu::noinline]] int leaf(int x) {
    leaves = leaves + 1;
    return sink = x;
}
[[gnu::noinline]] int thrower(int depth) {
    if (depth == 0) throw std::runtime_error("bottom");
    return thrower(depth - 1) + sink;
}
[[gnu::noinline]] int catcher(int depth) {
    if (depth != 0) return catcher(depth - 1) + sink;
    try {
        return thrower(2000);
    } catch (const std::runtime_error&) {
        return leaf(1);
    }
}
[[gnu::noinline]] int jumper(int depth) {
    if (depth == 0) std::longjmp(environment, 1);
    return jumper(depth - 1) + sink;
}
[[gnu::noinline]] int lander(int depth) {
    if (depth != 0) return lander(depth - 1) + sink;
    if (setjmp(environment) == 0) return jumper(2000);
    return leaf(2);
}
[[gnu::noinline]] int some(int depth) { return depth == 0 ? leaf(0) : some(depth - 1) + sink; }
[[gnu::noinline]] void jump(int) { siglongjmp(before_signal, 1); }
[[gnu::noinline]] void interrupted() {
    std::signal(SIGALRM, jump);
    volatile int jumps = 0;
    if (sigsetjmp(before_signal, 1) != 0) jumps = jumps + 1;
    const itimerval often{{0, 300}, {0, 300}};
    setitimer(ITIMER_REAL, &often, nullptr);
    while (jumps < 500) some(3);
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
}
[[gnu::noinline]] void tiny() { sink = sink + 1; }
[[gnu::noinline]] void handled() { asm volatile(""); }
volatile int handled_signals = 0;
[[gnu::no_instrument_function, clang::xray_never_instrument]] void on_signal(int) {
    if (handled_signals == 300) return; // one that was pending when the timer was stopped
    profile_region_begin("in a handler");
    handled();
    profile_region_end("in a handler");
    handled_signals = handled_signals + 1;
}
[[gnu::noinline]] void signalled() {
    std::signal(SIGALRM, on_signal);
    const itimerval often{{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &often, nullptr);
    while (handled_signals < 300) tiny();
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
}
[[gnu::noinline]] void after() { leaf(3); }

/// As code would be that is instrumented where it is made: room for it, and its hooks.
[[gnu::no_instrument_function]] void* made() {
    static void* const code = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return code;
}
[[gnu::no_instrument_function, gnu::noinline]] void run_made(int often) {
    for (int i = 0; i < often; ++i) {
        __cyg_profile_func_enter(made(), nullptr);
        leaf(i);
        __cyg_profile_func_exit(made(), nullptr);
    }
}
[[gnu::noinline]] void leave_made() {
    if (setjmp(environment) != 0) return;
    __cyg_profile_func_enter(made(), nullptr);
    std::longjmp(environment, 1);
}

} // namespace work

namespace {

/// Outside of all instrumented functions.
[[gnu::constructor, gnu::no_instrument_function]] void before_main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "made") == 0) work::run_made(5);
}

} // namespace

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "";
    if (std::strcmp(mode, "throw") == 0) work::catcher(2000);
    if (std::strcmp(mode, "jump") == 0) work::lander(2000);
    if (std::strcmp(mode, "handler") == 0) work::interrupted();
    if (std::strcmp(mode, "signals") == 0) work::signalled();
    if (std::strcmp(mode, "names") == 0) {
        for (int i = 0; i < 100000; ++i) {
            char name[32];
            std::snprintf(name, sizeof name, "name %d", i);
            profile_region_begin(name);
            profile_region_end(name);
        }
        for (int i = 0; i < 100000; ++i) profile_region_begin("name 1");
        for (int i = 0; i < 100000; ++i) profile_region_end("name 1");
    }
    if (std::strcmp(mode, "made") == 0) {
        work::run_made(7);
        work::leave_made();
    }
    for (int i = 0; i < 10; ++i) work::after();
    if (std::strcmp(mode, "handler") != 0) std::printf("%d\n", work::leaves);
    return 0;
}
