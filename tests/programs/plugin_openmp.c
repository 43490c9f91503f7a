/* A plug-in that loads an OpenMP runtime and uses it while it is being loaded itself. */
static int started;

int work(int n) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < n; ++i)
        sum += i;
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        sum += 1;
#pragma omp barrier
#pragma omp single
        sum += 1;
    }
    return sum == n * (n - 1.0) / 2 + 3 ? started : -1;
}

__attribute__((constructor)) static void start(void) {
    started = 1;
    started = work(100);
}
