// instrumented: functions with known visits, for -finstrument-functions: nested, recursive, left by exceptions and by longjmp,
// in threads and in a signal handler. Prints what it has computed.
#include <mpi.h>

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace work {

volatile int sink = 0;

[[gnu::noinline]] int leaf(int x) {
    sink = x;
    return x + 1;
}
[[gnu::noinline]] int branch(int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += leaf(i);
    return sum;
}
[[gnu::noinline]] int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
[[gnu::noinline]] int odd(int n);
[[gnu::noinline]] int even(int n) { return n == 0 ? 1 : odd(n - 1) + 0 * sink; }
[[gnu::noinline]] int odd(int n) { return n == 0 ? 0 : even(n - 1) + 0 * sink; }
[[gnu::noinline]] int thrower(int depth) {
    if (depth == 0) throw std::runtime_error("bottom");
    return thrower(depth - 1) + sink;
}
[[gnu::noinline]] int catcher() {
    try {
        return thrower(4);
    } catch (const std::runtime_error&) {
        return leaf(1);
    }
}
std::jmp_buf environment;
[[gnu::noinline]] void jumper(int depth) {
    if (depth == 0) std::longjmp(environment, 1);
    jumper(depth - 1);
    sink = depth;
}
[[gnu::noinline]] int lander() {
    if (setjmp(environment) == 0) jumper(3);
    return leaf(2);
}
[[gnu::noinline]] void in_thread() { sink = branch(100); }
[[gnu::noinline]] void handler(int) { sink = leaf(3); }

} // namespace work

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; ++i) sum += work::branch(1000);
    sum += work::fibonacci(15);
    sum += work::even(20000); // deeper than what is kept
    for (int i = 0; i < 7; ++i) sum += work::catcher();
    for (int i = 0; i < 5; ++i) sum += work::lander();
    std::thread one(work::in_thread), two(work::in_thread);
    one.join();
    two.join();
    std::signal(SIGUSR1, work::handler);
    for (int i = 0; i < 3; ++i) std::raise(SIGUSR1);
    for (int i = 0; i < 4; ++i) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) std::printf("sum %d\n", sum);
    MPI_Finalize();
    return 0;
}
