/* Programs without markers, with loops of a known number of passes: loops KIND PASSES [MICROSECONDS of work in a pass]. */
#include "passes.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

OWN void halo(void) {
    double in = 0;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&value, 1, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    sink = in;
}

OWN void step(void) {
    halo();
    work(step_us);
    sum();
    sink = 1;
}

/* Short, and over before the program begins. */
OWN void setup(void) {
    for (int i = 0; i < 100; ++i) MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    sink = 1;
}

OWN void simple(int passes) {
    for (int i = 0; i < passes; ++i) step();
}
/* So many calls in passes too short for iterations that the search pauses, and then a loop. */
OWN void after_many_calls(int passes) {
    for (int i = 0; i < 2000000; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    simple(passes);
    sink = 2;
}
/* The same with calls that are not examined. */
OWN void after_many_types(int passes) {
    int bytes;
    for (int i = 0; i < 12000000; ++i) MPI_Type_size(MPI_DOUBLE, &bytes);
    simple(passes);
    sink = 2;
}
/* Steps that become too short for iterations. */
OWN void shrinking(int passes) {
    for (int i = 0; i < passes; ++i) {
        halo();
        if (i < 400) work(step_us);
    }
}
OWN void once_more(int passes) {
    simple(passes);
    sink = 2;
}

/* As `simple`, in another function and with other calls. */
OWN void second(int passes) {
    for (int i = 0; i < passes; ++i) {
        work(step_us);
        output();
        halo();
    }
}

/* One loop after the other in one function. */
OWN void two_here(int passes) {
    for (int i = 0; i < passes; ++i) step();
    for (int i = 0; i < passes; ++i) {
        work(step_us);
        output();
        halo();
    }
}

/* A solver in another function, which takes a number of iterations that changes. */
OWN void solver(int iterations) {
    for (int i = 0; i < iterations; ++i) {
        sum();
        work(step_us / 8);
    }
    sink = 2;
}
OWN void nested(int passes) {
    for (int i = 0; i < passes; ++i) {
        halo();
        solver(5 + i % 4);
    }
}

/* Steps that compute before and behind the solver, and make no MPI call there. */
OWN void assemble(double us) {
    work(us);
    sink = 3;
}
OWN void far_down(int levels) {
    levels == 0 ? sum() : far_down(levels - 1);
    sink = levels;
}
/* Where there are `levels`, its last call is too deep to be followed. */
OWN void plain_solver(int iterations, int levels) {
    for (int i = 0; i < iterations; ++i) {
        sum();
        work(step_us / 5);
        if (levels != 0 && i + 1 == iterations) far_down(levels);
    }
    sink = 2;
}
OWN void assembly(int passes) {
    for (int i = 0; i < passes; ++i) {
        assemble(step_us);
        plain_solver(20, i < 850 ? 0 : 600);
        assemble(step_us / 2);
    }
}

/* The same, where the solver jumps back when it is done. */
static jmp_buf is_done;
OWN void jumping_solver(int iterations) {
    for (int i = 0; i < iterations; ++i) {
        sum();
        work(step_us / 4);
    }
    longjmp(is_done, 1);
}
OWN void assembly_around_jumps(int passes) {
    for (volatile int i = 0; i < passes; ++i) {
        assemble(step_us);
        if (setjmp(is_done) == 0) jumping_solver(20);
        assemble(step_us / 2);
    }
}

/* The same in one function. */
OWN void nested_here(int passes) {
    for (int i = 0; i < passes; ++i) {
        sum();
        for (int k = 0; k < 8 + (i * 7) % 12; ++k) {
            halo();
            work(step_us / 8);
        }
    }
}

/* Stages of a step, in one function. */
OWN void stages(int passes) {
    for (int i = 0; i < passes; ++i) {
        for (int k = 0; k < 3; ++k) {
            halo();
            work(step_us / 3);
        }
        sum();
    }
}

/* What is done at every second and fourth step, before what is done in each. */
OWN void every_second(int passes) {
    for (int i = 0; i < passes; ++i) {
        if (i % 2 == 0) {
            if (i != 0) sum();
            sum();
        }
        if (i % 4 == 0) output();
        halo();
        work(step_us);
    }
}

/* No call comes once in each pass, but one call site is entered once in each. */
OWN void messages(int count) {
    for (int i = 0; i < count; ++i) halo();
    sink = count;
}
OWN void check_mostly(int passes) {
    for (int i = 0; i < passes; ++i) {
        if (i % 20 != 7) sum();
        work(step_us);
        messages(2 + i % 3);
    }
}

OWN void output_sometimes(int passes) {
    for (int i = 0; i < passes; ++i) {
        halo();
        work(step_us);
        sum();
        if (i % 10 == 9) output();
    }
}

/* Nothing but the solver: that a pass is over shows only in that it has returned. */
OWN void only_a_solver(int passes) {
    for (int i = 0; i < passes; ++i) solver(3 + i % 5);
}

OWN int recursion(int passes) {
    if (passes == 0) return 0;
    sum();
    work(step_us);
    const int done = recursion(passes - 1);
    sink = done;
    return done + 1;
}

/* No time loop: it goes up again before it goes further down. */
OWN int tree_walk(int from, int to) {
    sum();
    work(step_us);
    const int middle = from + (to - from) / 2;
    const int nodes = middle == from ? 1 : tree_walk(from, middle) + tree_walk(middle, to);
    sink = nodes;
    return nodes;
}

/* Nor is this: one way down and up. */
OWN void cycle(int level) {
    sum();
    work(step_us);
    if (level != 0) cycle(level - 1);
    sum();
    work(step_us);
}

/* Ranks take different ways through a pass. */
OWN void ranks_apart(int passes) {
    for (int i = 0; i < passes; ++i) {
        if (rank % 2 == 0) {
            halo();
            work(step_us);
        } else {
            work(step_us / 2);
            halo();
            work(step_us / 2);
        }
        sum();
    }
}

OWN void master_and_workers(int passes) {
    int task;
    MPI_Status status;
    for (int i = 0; rank == 0 && i < passes * (size - 1); ++i) {
        MPI_Recv(&task, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
        MPI_Send(&i, 1, MPI_INT, status.MPI_SOURCE, 4, MPI_COMM_WORLD);
    }
    for (int i = 0; rank != 0 && i < passes; ++i) {
        MPI_Send(&i, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        MPI_Recv(&task, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &status);
        work(step_us);
    }
}

/* A command interpreter: all commands but one are short. */
OWN void command(int number, int passes) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (number == 15) simple(passes);
    sink = number;
}
OWN void interpreter(int passes) {
    for (int i = 0; i < 20; ++i) command(i, passes);
}

/* A time loop that shows only after a solver has gone on for long. */
OWN void late(int passes) {
    for (int i = 0; i < passes; ++i) {
        halo();
        solver(i == 0 ? 18000 : 1000);
    }
}

/* One that has few passes when a solver has filled the log. */
OWN void much_inside(int passes) {
    for (int i = 0; i < passes; ++i) {
        halo();
        solver(600);
    }
}

/* The same, where some passes are much slower than others. */
OWN void disturbed(int passes) {
    for (int i = 0; i < passes; ++i) {
        halo();
        step_us = i == 40 || i == 41 ? 10667 : 400;
        solver(600);
    }
}

/* Passes that the calls do not show: around a solver that is part of the function, by turns in the function that is called, without a call. */
OWN void around_inner(int passes) {
    for (int i = 0; i < passes; ++i)
        for (int k = 0; k < 5 + i % 3; ++k) step();
}
OWN void by_turns(int pass) {
    work(step_us);
    if (pass % 2 == 0)
        sum();
    else
        halo();
    sink = pass;
}
OWN void turns(int passes) {
    for (int i = 0; i < passes; ++i) by_turns(i);
}
OWN void seldom_a_call(int passes) {
    for (int i = 0; i < passes; ++i) {
        work(step_us / 5);
        if (i % 5 == 4) sum();
    }
}

OWN void seldom_in(int pass) {
    work(step_us);
    if (pass % 2 == 0) sum();
    sink = pass;
}
OWN void seldom_inside(int passes) {
    for (int i = 0; i < passes; ++i) {
        seldom_in(i);
        work(step_us / 5);
    }
}
/* Two of them in the same passes; one that ends in the call; one that goes through a loop. */
OWN void also_seldom_in(int pass) {
    if (pass % 2 != 0) return;
    halo();
    sink = pass;
}
OWN void two_seldom_inside(int passes) {
    for (int i = 0; i < passes; ++i) {
        seldom_in(i);
        also_seldom_in(i);
    }
}
OWN void ends_in_call(int pass) {
    static double all;
    work(step_us);
    if (pass % 2 == 0) MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
OWN void seldom_at_the_end(int passes) {
    for (int i = 0; i < passes; ++i) {
        ends_in_call(i);
        work(step_us / 5);
    }
}
OWN void solver_in(int pass) {
    work(step_us);
    if (pass % 5 != 0) return;
    for (int k = 0; k < 4 + pass % 3; ++k) sum();
    sink = pass;
}
OWN void seldom_a_solver(int passes) {
    for (int i = 0; i < passes; ++i) {
        solver_in(i);
        work(step_us / 5);
    }
}
OWN void unrolled(int passes) {
#pragma GCC unroll 4
    for (int i = 0; i < passes; ++i) step();
}

/* A loop that is over, and what comes behind it makes no call that tells so. */
OWN void long_after(int passes) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < passes; ++i) step();
    clock_gettime(CLOCK_MONOTONIC, &end);
    work(6e6 * (double)(end.tv_sec - begin.tv_sec) + 6e-3 * (double)(end.tv_nsec - begin.tv_nsec));
    sink = 1;
}

/* A loop deep inside, and one too deep to be followed. */
OWN int deep(int levels, int passes) {
    const int done = levels == 0 ? (simple(passes), passes) : deep(levels - 1, passes);
    sink = done;
    return done;
}

/* A loop in a function that is called from several places. */
OWN void several_callers(int passes) {
    simple(passes / 2);
    once_more(passes - passes / 2);
    sink = 1;
}

/* Markers that come when a loop was found. */
OWN void marked_late(int passes) {
    simple(passes);
    for (int i = 0; i < 20; ++i) {
        MPI_Pcontrol(1000);
        second(1);
    }
    MPI_Pcontrol(-1000);
}

/* The code says that each pass calls it, but not that it calls MPI. */
OWN void output_if_due(int pass) {
    if (pass % 10 == 9) output();
    sink = pass;
}
OWN void seldom_around(int passes) {
    for (int i = 0; i < passes; ++i) {
        output_if_due(i);
        for (int stage = 0; stage < 3; ++stage) {
            work(step_us);
            sum();
        }
    }
}

/* Computes behind its call, where samples hit, and is the same activation to whoever looks at the stack only. */
OWN void calls_and_computes(void) {
    double all;
    struct timespec begin, now;
    MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 100000; ++i) sink += i * 0.5;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) * 1e6 + (double)(now.tv_nsec - begin.tv_nsec) / 1e3 < step_us);
}
OWN void computes_behind(int passes) {
    for (int i = 0; i < passes; ++i) {
        calls_and_computes();
        sink = i;
    }
}

/* Each pass makes one of several calls. */
OWN void either_call(int passes, int every) {
    double all;
    for (int i = 0; i < passes; ++i) {
        work(step_us);
        if (i % every == every - 1) {
            MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            sink = 2;
        } else {
            sink = 3;
            MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
    }
}
OWN void one_of_three(int passes) {
    for (int i = 0; i < passes; ++i) {
        work(step_us);
        if (i % 3 == 0)
            halo();
        else if (i % 3 == 1)
            sum();
        else
            output();
        sink = i;
    }
}
/* The code allows both in one pass, and none. */
OWN void one_and_other(int passes) {
    for (int i = 0; i < passes; ++i) {
        work(step_us);
        if (i % 2 == 0) sum();
        if (i % 2 == 1) output();
        sink = i;
    }
}

/* Ends by jumping to MPI, so that MPI returns to its caller. */
OWN __attribute__((optimize("O2"))) int sum_at_the_end(void) {
    static double all;
    halo();
    return MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
OWN void tail_calls(int passes) {
    for (int i = 0; i < passes; ++i) {
        work(step_us);
        sink = sum_at_the_end();
    }
}

/* Levels: output intervals around time steps, a driver of few steps around a solver, sets of the solver from two places, all three. */
OWN void advance(int steps) {
    for (int i = 0; i < steps; ++i) step();
    sink = steps;
}
OWN void intervals(int passes) {
    for (int i = 0; i < passes; ++i) advance(10);
}
OWN void gmres(int iterations) {
    for (int i = 0;; ++i) {
        work(step_us);
        sum();
        if (i + 1 >= iterations) break;
        halo();
    }
    sink = iterations;
}
OWN void frames(int passes) { /* the last one is as long as a tenth of the run */
    for (int i = 0; i < passes; ++i) {
        gmres(25);
        work(2000);
    }
}
OWN void driver(int passes) {
    for (int i = 0; i < passes; ++i) {
        halo();
        gmres(17 + i * 37 % 34);
        output();
    }
}
OWN void solver_sets(int passes) {
    for (int i = 0; i < passes; ++i) {
        work(step_us * 10);
        gmres(25);
        halo();
        gmres(25);
    }
}
OWN void steps_of_solver(int steps) {
    for (int i = 0; i < steps; ++i) {
        halo();
        gmres(8 + i % 5);
    }
    sink = steps;
}
OWN void three_levels(int passes) {
    for (int i = 0; i < passes; ++i) {
        steps_of_solver(5);
        output();
    }
}

/* Computes after its last call; its caller does not. */
OWN void smoother(void) {
    for (int i = 0; i < 8; ++i) {
        halo();
        for (int k = 0; k < 10; ++k) sum();
        work(step_us / 8);
    }
    work(step_us / 8);
    sink = 1;
}
OWN void preconditioner(void) {
    smoother();
    sink = 1;
}
OWN void solver_of_smoothers(void) {
    for (int i = 0; i < 10; ++i) {
        halo();
        preconditioner();
    }
    sink = 1;
}
OWN void smoothers(int passes) {
    for (int i = 0; i < passes; ++i) {
        solver_of_smoothers();
        output();
    }
}

#define ONCE(n)               \
    OWN void once_##n(void) { \
        sum();                \
        work(step_us * 10);   \
        sink = n;             \
    }
ONCE(0)
ONCE(1) ONCE(2) ONCE(3) ONCE(4) ONCE(5) ONCE(6) ONCE(7)
    OWN void no_loop(void) {
    once_0();
    once_1();
    once_2();
    once_3();
    once_4();
    once_5();
    once_6();
    once_7();
}

/* An operation that asks MPI, as those do that serve several types. */
static void add_or_leave(void* in, void* inout, int* count, MPI_Datatype* type) {
    int bytes = 0;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; bytes == sizeof(double) && i < *count; ++i) ((double*)inout)[i] += ((double*)in)[i];
}
OWN void operations(int passes) {
    MPI_Op operation;
    MPI_Op_create(add_or_leave, 1, &operation);
    for (int i = 0; i < passes; ++i) {
        double in = 1, all = 0;
        halo();
        work(step_us);
        MPI_Allreduce(&in, &all, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
        sink = all;
    }
    MPI_Op_free(&operation);
}

/* What each pass calls may leave out its collective call, and never does. A small call comes in each. */
static volatile int has_norm = 1;
OWN void query(void) {
    int number = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &number);
    sink = number;
}
OWN void solve(void) {
    query();
    work(step_us);
    if (has_norm) sum();
    sink = 1;
}
OWN void solves(int passes) {
    for (int i = 0; i < passes; ++i) solve();
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const char* kind = argv[1];
    const int passes = atoi(argv[2]);
    if (argc > 3) step_us = atof(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    sum(); /* all are there */
#define KIND(name) !strcmp(kind, name)
    if (KIND("main"))
        for (int i = 0; i < passes; ++i) step();
    if (KIND("simple")) simple(passes);
    if (KIND("setup")) setup(), simple(passes);
    if (KIND("operations")) operations(passes);
    if (KIND("solves")) solves(passes);
    if (KIND("after_many_calls")) after_many_calls(passes);
    if (KIND("after_many_types")) after_many_types(passes);
    if (KIND("shrinking")) shrinking(passes);
    if (KIND("nested")) nested(passes);
    if (KIND("assembly")) assembly(passes);
    if (KIND("assembly_around_jumps")) assembly_around_jumps(passes);
    if (KIND("nested_here")) nested_here(passes);
    if (KIND("stages")) stages(passes);
    if (KIND("every_second")) every_second(passes);
    if (KIND("check_mostly")) check_mostly(passes);
    if (KIND("output_sometimes")) output_sometimes(passes);
    if (KIND("only_a_solver")) only_a_solver(passes);
    if (KIND("recursion")) recursion(passes);
    if (KIND("tree_walk")) tree_walk(0, passes);
    if (KIND("cycle")) cycle(passes);
    if (KIND("no_loop")) no_loop();
    if (KIND("seldom_around")) seldom_around(passes);
    if (KIND("computes_behind")) computes_behind(passes);
    if (KIND("either_2")) either_call(passes, 2);
    if (KIND("either_5")) either_call(passes, 5);
    if (KIND("either_30")) either_call(passes, 30);
    if (KIND("either_late")) either_call(passes, passes - 10);
    if (KIND("one_of_three")) one_of_three(passes);
    if (KIND("one_and_other")) one_and_other(passes);
    if (KIND("tail_calls")) tail_calls(passes);
    if (KIND("intervals")) intervals(passes);
    if (KIND("frames")) frames(passes);
    if (KIND("driver")) driver(passes);
    if (KIND("solver_sets")) solver_sets(passes);
    if (KIND("three_levels")) three_levels(passes);
    if (KIND("smoothers")) smoothers(passes);
    if (KIND("two")) simple(passes), second(passes);
    if (KIND("two_here")) two_here(passes);
    if (KIND("ranks_apart")) ranks_apart(passes);
    if (KIND("master_and_workers")) master_and_workers(passes);
    if (KIND("interpreter")) interpreter(passes);
    if (KIND("late")) late(passes);
    if (KIND("much_inside")) much_inside(passes);
    if (KIND("disturbed")) disturbed(passes);
    if (KIND("around_inner")) around_inner(passes);
    if (KIND("turns")) turns(passes);
    if (KIND("seldom_a_call")) seldom_a_call(passes);
    if (KIND("seldom_inside")) seldom_inside(passes);
    if (KIND("two_seldom_inside")) two_seldom_inside(passes);
    if (KIND("seldom_at_the_end")) seldom_at_the_end(passes);
    if (KIND("seldom_a_solver")) seldom_a_solver(passes);
    if (KIND("unrolled")) unrolled(passes);
    if (KIND("long_after")) long_after(passes);
    if (KIND("deep")) deep(90, passes);
    if (KIND("too_deep")) deep(200, passes);
    if (KIND("several_callers")) several_callers(passes);
    if (KIND("marked_late")) marked_late(passes);
    MPI_Finalize();
    return 0;
}
