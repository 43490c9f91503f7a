// sleds: for -fxray-instrument. Functions with all kinds of arguments, results and ends count their own visits. The main thread of each rank
// prints what it has computed, rank 0 also how often each function was visited. With the argument LOOK it prints which functions are patched
// at their entries.
#include <mpi.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <immintrin.h>
#include <stdexcept>
#include <thread>

namespace work {

volatile int sink = 1;

#define COUNTED(result, name, ...)                                                                                                 \
    std::atomic<long> name##_visits{0};                                                                                            \
    [[gnu::noinline]] result name(__VA_ARGS__)

COUNTED(int, leaf, int x) {
    ++leaf_visits;
    return sink = x;
}
COUNTED(int, branch, int n) {
    ++branch_visits;
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += leaf(i);
    return sum;
}
COUNTED(int, tail, int n) {
    ++tail_visits;
    return branch(n); // a jump
}
COUNTED(double, many, double a, double b, double c, double d, double e, double f, double g, double h, int i, int j, int k, int l, int m, int n, int o) {
    ++many_visits;
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + i + 2 * j + 3 * k + 4 * l + 5 * m + 6 * n + 7 * o;
}
COUNTED(long double, extended, long double x) {
    ++extended_visits;
    return x * 1.5L;
}
struct Mixed {
    long a;
    double b;
};
COUNTED(Mixed, mixed, double x) {
    ++mixed_visits;
    return {static_cast<long>(x), x + 1};
}
COUNTED([[gnu::target("avx2")]] __m256d, wide, __m256d a, __m256d b) {
    ++wide_visits;
    return _mm256_add_pd(a, b);
}
[[gnu::noinline, gnu::target("avx2")]] double widely() {
    __m256d x = _mm256_set_pd(1, 2, 3, 4);
    for (int i = 0; i < 1000; ++i) x = wide(x, _mm256_set_pd(.1, .2, .3, .4));
    double d[4];
    _mm256_storeu_pd(d, x);
    return d[0] + 2 * d[1] + 3 * d[2] + 4 * d[3];
}
COUNTED(int, thrower, int depth) {
    ++thrower_visits;
    if (depth == 0) throw std::runtime_error("bottom");
    return thrower(depth - 1) + sink;
}
COUNTED(int, catcher, int depth) { // the exception goes through activations of itself
    ++catcher_visits;
    if (depth == 0) return thrower(4);
    try {
        return catcher(depth - 1) + sink;
    } catch (const std::runtime_error&) {
        if (depth % 3 != 0) throw;
        return sink;
    }
}
std::jmp_buf environment;
COUNTED(void, jumper, int depth) {
    ++jumper_visits;
    if (depth == 0) std::longjmp(environment, 1);
    jumper(depth - 1);
    sink = depth;
}
COUNTED(int, lander, ) {
    ++lander_visits;
    if (setjmp(environment) == 0) jumper(3);
    return leaf(2);
}
COUNTED(int, deep, int n) {
    ++deep_visits;
    return n == 0 ? leaf(1) : deep(n - 1) + sink;
}
COUNTED(void, handler, int) {
    ++handler_visits;
    leaf(3);
}
COUNTED(void, in_thread, ) {
    ++in_thread_visits;
    for (int i = 0; i < 100; ++i) branch(10);
}

/// Whether the first instruction is still a jump over the sled.
bool is_untouched(const void* function) { return *static_cast<const unsigned char*>(function) == 0xeb; }

} // namespace work

int main(int argc, char** argv) {
    using namespace work;
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int sum = 0;
    for (int i = 0; i < 10; ++i) sum += branch(1000) + tail(3);
    for (int i = 0; i < 7; ++i) sum += catcher(3) + catcher(7);
    for (int i = 0; i < 5; ++i) sum += lander();
    sum += deep(100);
    std::signal(SIGUSR1, handler);
    for (int i = 0; i < 3; ++i) std::raise(SIGUSR1);
    std::thread one(in_thread), two(in_thread);
    one.join();
    two.join();
    double real = many(1.1, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7, 8.8, 1, 2, 3, 4, 5, 6, 7);
    const Mixed both = mixed(4.5);
    real += static_cast<double>(both.a) + both.b;
    const bool has_wide = __builtin_cpu_supports("avx2") != 0;
    if (has_wide) real += widely();
    double all = 0;
    MPI_Allreduce(&real, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("sum %d, %.17g, %.17Lg\n", sum, all, extended(1.23456789L));
        std::printf("work::leaf %ld\nwork::branch %ld\nwork::tail %ld\nwork::many %ld\nwork::extended %ld\nwork::mixed %ld\n", leaf_visits.load(),
                    branch_visits.load(), tail_visits.load(), many_visits.load(), extended_visits.load(), mixed_visits.load());
        std::printf("work::thrower %ld\nwork::catcher %ld\nwork::jumper %ld\nwork::lander %ld\nwork::deep %ld\nwork::handler %ld\nwork::in_thread %ld\n",
                    thrower_visits.load(), catcher_visits.load(), jumper_visits.load(), lander_visits.load(), deep_visits.load(), handler_visits.load(),
                    in_thread_visits.load());
        if (has_wide) std::printf("work::wide %ld\n", wide_visits.load());
        if (argc > 1)
            std::printf("leads on: %s%s%s\n", is_untouched(reinterpret_cast<void*>(&leaf)) ? "" : " leaf", is_untouched(reinterpret_cast<void*>(&branch)) ? "" : " branch",
                        is_untouched(reinterpret_cast<void*>(&deep)) ? "" : " deep");
    } else {
        extended(1);
    }
    MPI_Finalize();
    return 0;
}
