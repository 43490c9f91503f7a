/* Programs that mark nothing, whose passes change in kind while they run, or whose calls are left out in some passes:
   pass_starts KIND PASSES [MICROSECONDS of work in a pass]. */
#include "passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many messages to the neighbours and back: at least one. */
OWN void exchange(int messages) {
    static double in[64], out[64];
    MPI_Request requests[128];
    int count = 0;
    do {
        MPI_Irecv(&in[count / 2], 1, MPI_DOUBLE, (rank + size - 1) % size, count / 2, MPI_COMM_WORLD, &requests[count]);
        MPI_Isend(&out[count / 2], 1, MPI_DOUBLE, (rank + 1) % size, count / 2, MPI_COMM_WORLD, &requests[count + 1]);
        count += 2;
    } while (count < 2 * messages);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    sink = in[0];
}

OWN void forward(void) {
    double in = 0;
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % size, 90, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 90, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sink = in;
}

/* Messages back, as many as it takes. */
OWN void reverse(int messages) {
    double in = 0;
    do {
        MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % size, 91, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 91, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } while (--messages > 0);
    sink = in;
}

/* New neighbours at every 20th step, some of it at every 40th; in other steps values go forward. Messages back, one or more, come in each. */
OWN void neighbours(int passes) {
    for (int i = 0; i < passes; ++i) {
        if (i % 20 == 19) {
            if (i % 40 == 39) sum();
            exchange(3);
            exchange(2);
        } else {
            forward();
        }
        work(step_us);
        reverse(1 + i % 3);
    }
}

/* The same, where a collective call is made in one of the branches only, and messages one after the other in a loop of the function itself. */
OWN void branches(int passes) {
    for (int i = 0; i < passes; ++i) {
        double in = 0;
        if (i % 16 != 3) {
            sum();
        } else {
            output();
            if (i % 32 == 3) forward();
        }
        work(step_us);
        for (int k = 0; k < 1 + (i % 16 == 3); ++k)
            MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % size, 5, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        exchange(1);
        sink = in;
    }
}

/* What is called at one place makes one of two calls, and at another always the same. */
OWN void checked(int pass) {
    if (pass % 20 != 7)
        sum();
    else if (pass % 40 == 7)
        output();
    sink = pass;
}
OWN void one_inside(int passes) {
    for (int i = 0; i < passes; ++i) {
        checked(i);
        work(step_us);
        reverse(1 + i % 2);
    }
}

/* The first pass has nothing to do for what comes first in the code. */
OWN void first_left_out(int passes) {
    for (int i = 0; i < passes; ++i) {
        if (i > 0) sum();
        work(step_us);
        forward();
    }
}
OWN void ordered(int pass) {
    if (pass > 0) sum();
    work(step_us / 2);
    sink = pass;
}
OWN void first_left_out_inside(int passes) {
    for (int i = 0; i < passes; ++i) {
        ordered(i);
        work(step_us / 2);
        exchange(1);
    }
}
OWN void first_differs(int passes) {
    for (int i = 0; i < passes; ++i) {
        if (i == 0)
            output();
        else
            sum();
        exchange(2);
        work(step_us);
    }
}

/* An adaptive mesh: eight stages a step; the exchange takes more messages when there are more blocks. */
OWN void adaptive(int passes) {
    for (int i = 0; i < passes; ++i) {
        const int blocks = i < passes / 4 ? 1 : 1 + 8 * i / passes;
        for (int stage = 0; stage < 8; ++stage) {
            exchange(blocks);
            work(step_us / 8);
        }
    }
}
/* The same in one function: what is in the loop over the blocks comes once at first. */
OWN void adaptive_here(int passes) {
    for (int i = 0; i < passes; ++i) {
        const int blocks = i < passes / 4 ? 1 : 3;
        double in = 0;
        for (int block = 0; block < blocks; ++block)
            MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % size, 5, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(step_us);
        forward();
        sink = in;
    }
}
/* Many stages, so that steps are few when the loop is settled on. */
OWN void many_stages(int passes) {
    for (int i = 0; i < passes; ++i) {
        sum();
        for (int stage = 0; stage < 400; ++stage) {
            forward();
            work(step_us / 400);
        }
    }
}
/* A step grows: two levels of time steps, of which the finer one comes later. */
OWN void subcycles(int passes) {
    for (int i = 0; i < passes; ++i) {
        const int fine = i < passes / 4 ? 1 : 4;
        sum();
        for (int k = 0; k < fine; ++k) {
            exchange(1 + k);
            work(step_us / fine);
        }
    }
}
/* Iterations that make a call each, of which there is one a step at first, and then more. */
OWN void solver_later(int passes) {
    for (int i = 0; i < passes; ++i) {
        int left = i < passes / 4 ? 1 : 4 + i % 3;
        do {
            sum();
            work(step_us / 4);
        } while (--left > 0);
        forward();
        work(step_us / 4);
    }
}

/* Passes that are too short to be iterations. */
OWN void empty(int passes) {
    for (int i = 0; i < passes; ++i) {
        int flag = 0;
        MPI_Initialized(&flag);
        sink = flag;
    }
}
OWN void pings(int passes) {
    for (int i = 0; i < passes; ++i) {
        double in = 0;
        MPI_Sendrecv(&value, 1, MPI_DOUBLE, rank, 5, &in, 1, MPI_DOUBLE, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sink = in;
    }
}
OWN void short_pass(int pass) {
    double in = 0;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_DOUBLE, rank, 5, MPI_COMM_WORLD, &request);
    MPI_Send(&value, 1, MPI_DOUBLE, rank, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sink = pass;
}
OWN void short_passes(int passes) {
    for (int i = 0; i < passes; ++i) short_pass(i);
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
#define KIND(name) \
    if (!strcmp(kind, #name)) name(passes)
    KIND(neighbours);
    KIND(branches);
    KIND(one_inside);
    KIND(first_left_out);
    KIND(first_left_out_inside);
    KIND(first_differs);
    KIND(adaptive);
    KIND(adaptive_here);
    KIND(many_stages);
    KIND(subcycles);
    KIND(solver_later);
    KIND(empty);
    KIND(pings);
    KIND(short_passes);
    MPI_Finalize();
    return 0;
}
