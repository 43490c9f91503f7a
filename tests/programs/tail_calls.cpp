// tail_calls CALLS: functions that end by jumping to others, at random, and make MPI calls before and after; some throw. Such a jump hands a marked
// return address on to a function that may save it elsewhere. The calls are of three kinds that answer at once. Prints what came out.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define NOT_INLINED [[gnu::noinline, gnu::noclone]]

static unsigned state = 7, calls = 0;
static volatile unsigned keep; // what comes after a call keeps it from being the last thing done

static unsigned random_below(unsigned n) {
    state = state * 1664525u + 1013904223u;
    return static_cast<unsigned>((static_cast<unsigned long long>(state) * n) >> 32);
}

NOT_INLINED static int ask(int depth) {
    int answer = 0;
    ++calls;
    switch (random_below(3)) {
    case 0: MPI_Comm_rank(MPI_COMM_WORLD, &answer); break;
    case 1: MPI_Comm_size(MPI_COMM_SELF, &answer); break;
    default: MPI_Initialized(&answer);
    }
    return answer + depth;
}

static int mostly_jumps(int depth), with_a_large_frame(int depth), only_jumps(int depth), throws(int depth);

NOT_INLINED static int mostly_jumps(int depth) {
    if (depth <= 0) return ask(depth);
    const int sum = ask(depth) + with_a_large_frame(depth - 1);
    if (random_below(2) != 0) return only_jumps(depth - 1 - static_cast<int>(random_below(2)));
    keep = static_cast<unsigned>(sum);
    return sum;
}

NOT_INLINED static int with_a_large_frame(int depth) {
    volatile char room[300];
    room[0] = 1;
    if (depth <= 0) return ask(depth) + room[0];
    int sum = only_jumps(depth - 1);
    sum += ask(sum);
    keep = static_cast<unsigned>(sum);
    return mostly_jumps(depth - 2);
}

NOT_INLINED static int only_jumps(int depth) {
    if (depth <= 0) return ask(depth);
    return throws(depth - 1 - static_cast<int>(random_below(2)));
}

NOT_INLINED static int throws(int depth) {
    if (depth == 3 && random_below(8) == 0) throw std::runtime_error("thrown");
    int sum = ask(depth);
    if (depth > 0) {
        try {
            sum += mostly_jumps(depth - 1);
        } catch (const std::runtime_error&) {
            sum += ask(1);
        }
    }
    keep = static_cast<unsigned>(sum);
    return with_a_large_frame(depth - 2);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const unsigned wanted = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1000;
    unsigned thrown = 0;
    while (calls < wanted) {
        try {
            keep = static_cast<unsigned>(mostly_jumps(9));
        } catch (const std::runtime_error&) {
            ++thrown;
        }
    }
    std::printf("%u calls, %u exceptions, %u\n", calls, thrown, keep);
    MPI_Finalize();
    return 0;
}
