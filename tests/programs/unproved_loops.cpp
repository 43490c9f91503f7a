// Programs without markers whose time loop its machine code seems to prove: unproved_loops KIND PASSES MICROSECONDS. Their jumps alone say that the
// inner loop is the outermost one, or that a call comes in each pass. Many cheap calls in a pass make the search decide early.
#include "passes.h"

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

OWN void cheap() {
    for (int k = 0; k < 11; ++k) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sink = 2;
}
OWN void pass() {
    sum();
    work(step_us);
    cheap();
}
OWN void solver() {
    for (int i = 0; i < 40; ++i) pass();
    sink = 2;
}

// One call in pass 0 and every hundredth, another one in the others.
OWN void stage(int i) {
    if (i == 0 || i % 100 == 99)
        output();
    else
        sum();
    sink = 1;
}
OWN void rare_branch(int passes) {
    for (int i = 0; i < passes; ++i) {
        stage(i);
        work(step_us);
        cheap();
    }
    sink = 1;
}
// Another call from pass 200 on.
OWN void method(int i) {
    if (i < 200)
        sum();
    else
        output();
    sink = 1;
}
OWN void changes(int passes) {
    for (int i = 0; i < passes; ++i) {
        method(i);
        work(step_us);
        cheap();
    }
    sink = 1;
}

// A call at the end of a function is a jump, so its frame does not show what may be left out: a collective call, from pass 200 on.
OWN void query() {
    int number = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    sink = number;
}
OWN void step_that_jumps(int i) {
    query();
    work(step_us);
    cheap();
    if (i < 200) sum();
}
OWN void jumps_at_ends(int passes) {
    for (int i = 0; i < passes; ++i) step_that_jumps(i);
    sink = 1;
}
OWN void meeting(int i) {
    if (i < 200) MPI_Barrier(MPI_COMM_WORLD);
}
OWN void step_that_meets(int i) {
    query();
    work(step_us);
    cheap();
    meeting(i);
    sink = 1;
}
OWN void jumps_to_mpi(int passes) {
    for (int i = 0; i < passes; ++i) step_that_meets(i);
    sink = 1;
}

static std::jmp_buf top;
OWN void command() {
    output();
    solver();
    std::longjmp(top, 1);
}
OWN void long_jumps(int passes) {
    static volatile int done;
    done = 0;
    setjmp(top);
    if (done < passes) {
        done = done + 1;
        command();
    }
    sink = 3;
}

OWN void recursive(int passes) {
    output();
    solver();
    if (passes > 1) recursive(passes - 1);
    sink = passes;
}

struct Restart {
    int left;
};
OWN void segment(int left) {
    solver();
    if (left != 1) throw Restart{left - 1};
}
OWN void restarts(int left) {
again:
    try {
        output();
        segment(left);
    } catch (const Restart& restart) {
        left = restart.left;
        goto again;
    }
    sink = 4;
}

// Thrown by another call than the one with the loop inside.
OWN void check(int left) {
    if (left != 1) throw Restart{left - 1};
    sink = left;
}
OWN void restarts_afterwards(int left) {
again:
    output();
    solver();
    try {
        check(left);
    } catch (const Restart& restart) {
        left = restart.left;
        goto again;
    }
    sink = 4;
}

// Exceptions only end the loop, and errors the program: it is proved.
struct Scope {
    [[gnu::noipa]] Scope() { sink = 5; }
    [[gnu::noipa]] ~Scope() { sink = 6; }
};
[[noreturn, gnu::noipa]] void give_up(const char* why) {
    if (sink == 7) throw std::runtime_error(why);
    std::abort();
}
OWN void steps(int passes) {
    const Scope all;
    for (int i = 0; i < passes; ++i) {
        const Scope step;
        if (sink == 8) give_up("before");
        sum();
        work(step_us);
        switch (i % 8) {
        case 0: sink = 1; break;
        case 1: work(1); break;
        case 2: sink = 2; break;
        case 3: work(3); break;
        case 4: sink = 3; break;
        case 5: work(4); break;
        default: break;
        }
        cheap();
        if (sink == 9) give_up("behind");
    }
}
OWN void cleaned(int passes) {
    const Scope scope;
    try {
        steps(passes);
        check(1);
    } catch (const Restart& restart) {
        sink = restart.left;
    } catch (...) {
        const Scope scope_of_error;
        give_up("somehow");
    }
    output();
}

// A loop that is proved, and one that has less than a quarter of the time.
OWN void first(int passes) {
    for (int i = 0; i < passes; ++i) pass();
    sink = 1;
}
OWN void second(int passes) {
    for (int i = 0; i < passes / 5; ++i) {
        work(step_us);
        output();
    }
    sink = 1;
}
OWN void in_succession(int passes) {
    first(passes);
    second(passes);
    sink = 1;
}
OWN void marked_afterwards(int passes) {
    first(passes / 4);
    for (int i = 0; i < passes; ++i) {
        MPI_Pcontrol(1000);
        sum();
        work(step_us);
    }
    MPI_Pcontrol(-1000);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 4) return 2;
    const int passes = std::atoi(argv[2]);
    step_us = std::atof(argv[3]);
    const auto is = [&](const char* kind) { return std::strcmp(argv[1], kind) == 0; };
    if (is("rare_branch")) rare_branch(passes);
    if (is("changes")) changes(passes);
    if (is("jumps_at_ends")) jumps_at_ends(passes);
    if (is("jumps_to_mpi")) jumps_to_mpi(passes);
    if (is("long_jumps")) long_jumps(passes);
    if (is("recursive")) recursive(passes);
    if (is("restarts")) restarts(passes);
    if (is("restarts_afterwards")) restarts_afterwards(passes);
    if (is("cleaned")) cleaned(passes);
    if (is("in_succession")) in_succession(passes);
    if (is("marked_afterwards")) marked_afterwards(passes);
    MPI_Finalize();
    return 0;
}
