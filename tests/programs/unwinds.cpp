// Exceptions, ends of threads, and backtraces: unwinds MODE. No MPI; also built with static libstdc++ and libgcc. Prints one line. The exit
// code is 1 if anything is wrong. As a plug-in (plugin_run) it does the same for a host in another language.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unwind.h>

#pragma GCC diagnostic ignored "-Winfinite-recursion"
#define NOT_INLINED [[gnu::noinline, gnu::noclone, gnu::noipa]]

namespace {

volatile std::uint64_t keep = 0;

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "unwinds: %s\n", what);
    std::exit(1);
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

NOT_INLINED std::uint64_t climb(unsigned depth) {
    std::uint64_t sum = spin(60);
    if (depth != 0) sum += climb(depth - 1);
    return sum + spin(40);
}

/// Notes in which order destructors run, each of which works for a while on a stack that may get a mark.
struct Note {
    Note(std::string& all, unsigned number) : text(all), own(static_cast<char>('a' + number % 26)) {}
    ~Note() {
        keep = keep + climb(8);
        text += own;
    }
    std::string& text;
    char own;
};

NOT_INLINED void throw_below(std::string& text, unsigned depth) {
    const Note note(text, depth);
    if (depth == 0) {
        spin(500);
        throw std::runtime_error("below");
    }
    throw_below(text, depth - 1);
    keep = keep + 1;
}

std::string order(unsigned depth) {
    std::string text;
    for (unsigned i = 0; i <= depth; ++i) text += static_cast<char>('a' + i % 26);
    return text;
}

/// The frame that catches lies right above the one that throws, and the other way round.
NOT_INLINED void catch_at(unsigned depth) {
    std::string text;
    try {
        throw_below(text, depth);
    } catch (const std::runtime_error& error) {
        if (std::strcmp(error.what(), "below") != 0) fail("another exception");
        keep = keep + climb(5);
    }
    if (text != order(depth)) fail("destructors ran in another order");
}

void destructors() {
    unsigned depth = 0;
    for (const double end = cpu_time() + 1.5; cpu_time() < end; depth = (depth + 1) % 12) catch_at(depth);
}

NOT_INLINED void rethrow_below(unsigned depth, std::string& text) {
    if (depth == 0) throw_below(text, 3);
    const Note note(text, depth);
    try {
        rethrow_below(depth - 1, text);
    } catch (const std::exception&) {
        spin(300);
        if (depth % 2 == 0) throw;
        std::rethrow_exception(std::current_exception());
    }
}

void rethrows() {
    unsigned depth = 0;
    std::string first[10];
    for (const double end = cpu_time() + 1.2; cpu_time() < end; depth = (depth + 1) % 10) {
        std::string text;
        try {
            rethrow_below(depth, text);
        } catch (const std::runtime_error&) {
            keep = keep + climb(4);
        }
        if (first[depth].empty()) first[depth] = text;
        if (text != first[depth]) fail("destructors ran in another order");
    }
}

/// Throws and catches in its destructor, while another exception passes.
struct Nesting {
    explicit Nesting(unsigned level) : depth(level) {}
    ~Nesting() {
        catch_at(depth % 5);
        spin(200);
    }
    unsigned depth;
};
NOT_INLINED void nest(unsigned depth) {
    const Nesting nesting(depth);
    if (depth == 0) throw std::out_of_range("nested");
    nest(depth - 1);
    keep = keep + 1;
}
void nested() {
    unsigned depth = 0;
    int caught = 0;
    int thrown = 0;
    for (const double end = cpu_time() + 1.2; cpu_time() < end; depth = (depth + 1) % 6) {
        ++thrown;
        try {
            nest(depth);
        } catch (const std::out_of_range&) {
            ++caught;
        }
        try {
            try {
                catch_at(1);
                throw std::logic_error("inner");
            } catch (...) {
                std::throw_with_nested(std::runtime_error("outer"));
            }
        } catch (const std::exception& outer) {
            try {
                std::rethrow_if_nested(outer);
                fail("nothing nested");
            } catch (const std::logic_error&) {
                spin(200);
            }
        }
    }
    if (caught != thrown) fail("not all were caught");
}

void between_threads() {
    for (const double end = cpu_time() + 1.2; cpu_time() < end;) {
        std::exception_ptr passed;
        std::string text;
        std::thread thread([&] {
            try {
                for (unsigned i = 0; i < 10; ++i) catch_at(i);
                throw_below(text, 7);
            } catch (...) {
                passed = std::current_exception();
            }
        });
        keep = keep + climb(20);
        thread.join();
        try {
            std::rethrow_exception(passed);
        } catch (const std::runtime_error& error) {
            if (text + error.what() != order(7) + "below") fail("another exception");
        }
    }
}

// Threads that end from below.
struct End {
    int how;
    std::string text;
};
NOT_INLINED void end_below(End& end, unsigned depth) {
    const Note note(end.text, depth);
    try {
        if (depth != 0) {
            end_below(end, depth - 1);
        } else if (end.how == 0) {
            spin(300);
            pthread_exit(nullptr);
        } else {
            for (;;) {
                spin(300);
                pthread_testcancel();
            }
        }
        keep = keep + 1;
    } catch (...) {
        spin(300);
        throw; // as it must
    }
}
void* end_thread(void* data) {
    keep = keep + climb(10);
    end_below(*static_cast<End*>(data), 9);
    return nullptr;
}
void thread_ends() {
    int how = 0;
    for (const double end = cpu_time() + 1.5; cpu_time() < end; how = 1 - how) {
        End ends[3];
        pthread_t threads[3];
        for (int i = 0; i < 3; ++i) {
            ends[i].how = how;
            pthread_create(&threads[i], nullptr, end_thread, &ends[i]);
        }
        const timespec moment{0, 8000000};
        if (how == 1) nanosleep(&moment, nullptr);
        for (int i = 0; i < 3; ++i) {
            void* result = nullptr;
            if (how == 1) pthread_cancel(threads[i]);
            pthread_join(threads[i], &result);
            // Cancelled before it began: nothing to destroy.
            if (ends[i].text != order(9) && !(how == 1 && ends[i].text.empty())) fail("destructors ran in another order");
            if (how == 1 && result != PTHREAD_CANCELED) fail("not cancelled");
        }
    }
}

/// How many frames an unwinder shows; without an end it is one of ours.
_Unwind_Reason_Code count_frame(_Unwind_Context*, void* data) {
    auto& count = *static_cast<unsigned*>(data);
    return ++count > 1000 ? _URC_END_OF_STACK : _URC_NO_REASON;
}
NOT_INLINED unsigned trace_below(unsigned depth) {
    spin(400);
    unsigned count = 0;
    if (depth == 0)
        _Unwind_Backtrace(count_frame, &count);
    else
        count = trace_below(depth - 1);
    spin(400);
    return count;
}
/// `whole`: as many frames as there are. Else: it comes to an end (an unwinder that is linked in cannot be interposed).
void trace(bool whole) {
    const unsigned base = trace_below(0);
    unsigned depth = 0;
    for (const double end = cpu_time() + 1.0; cpu_time() < end; depth = (depth + 1) % 30) {
        const unsigned count = trace_below(depth);
        if (count > 1000 || (whole && count != base + depth)) fail("a backtrace has another length");
    }
}
void traces() { trace(true); }
void linked_traces() { trace(false); }

NOT_INLINED void throw_uncaught(unsigned depth) {
    spin(3000);
    if (depth == 0) throw std::runtime_error("nobody catches this");
    throw_uncaught(depth - 1);
    spin(100);
}
void uncaught() {
    for (int i = 0; i < 2000; ++i) keep = keep + climb(20);
    for (volatile unsigned depth = 0;; depth = depth + 1)
        if (spin(depth) != 0) throw_uncaught(3000);
}
void stopped() noexcept { throw_uncaught(20); }
void uncaught_in_thread() {
    std::thread thread([] { throw_uncaught(500); });
    thread.join();
}

constexpr struct {
    const char* name;
    void (*run)();
} modes[] = {
    {"destructors", destructors}, {"rethrows", rethrows}, {"nested", nested}, {"between_threads", between_threads},
    {"thread_ends", thread_ends}, {"traces", traces}, {"linked_traces", linked_traces}, {"uncaught", uncaught},
    {"stopped", stopped}, {"uncaught_in_thread", uncaught_in_thread},
};

int run(const char* name) {
    for (const auto& mode : modes)
        if (std::strcmp(name, mode.name) == 0) {
            mode.run();
            std::printf("%s: survived\n", name);
            return 0;
        }
    fail("no such mode");
}

} // namespace

extern "C" int plugin_run(int argc, char** argv) { return run(argc > 2 ? argv[2] : "destructors"); }
/// For Fortran and Python: three modes one after the other.
extern "C" void unwinds_run() {
    run("destructors");
    run("rethrows");
    run("nested");
    std::fflush(stdout);
}

#ifndef AS_PLUGIN
int main(int argc, char** argv) { return run(argc > 1 ? argv[1] : ""); }
#endif
