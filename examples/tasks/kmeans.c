/* k-means: each iteration, tasks of OpenMP assign blocks of points to the nearest of the centres. docs/timeline.md tells what the size of a block does.

   kmeans POINTS BLOCK ITERATIONS: BLOCK points for each task. */
#include <libprofile.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { dimensions = 4, centres = 8 };

static double (*points)[dimensions];
static double centre[centres][dimensions];

struct sums {
    double coordinate[centres][dimensions];
    long points[centres];
};
static struct sums* of_thread; /* each task adds to those of its thread */

static __attribute__((noinline)) void assign_block(long first, long last) {
    struct sums* own = &of_thread[omp_get_thread_num()];
    for (long i = first; i < last; ++i) {
        int nearest = 0;
        double least = 1e300;
        for (int c = 0; c < centres; ++c) {
            double distance = 0;
            for (int d = 0; d < dimensions; ++d) distance += (points[i][d] - centre[c][d]) * (points[i][d] - centre[c][d]);
            if (distance < least) {
                least = distance;
                nearest = c;
            }
        }
        for (int d = 0; d < dimensions; ++d) own->coordinate[nearest][d] += points[i][d];
        ++own->points[nearest];
    }
}

static void move_centres(int threads) {
    for (int c = 0; c < centres; ++c) {
        struct sums all = {0};
        for (int t = 0; t < threads; ++t) {
            all.points[c] += of_thread[t].points[c];
            for (int d = 0; d < dimensions; ++d) all.coordinate[c][d] += of_thread[t].coordinate[c][d];
        }
        for (int d = 0; d < dimensions && all.points[c] != 0; ++d) centre[c][d] = all.coordinate[c][d] / (double)all.points[c];
    }
}

int main(int count, char** words) {
    if (count < 4) return fprintf(stderr, "usage: kmeans POINTS BLOCK ITERATIONS\n"), 2;
    const long total = atol(words[1]), block = atol(words[2]), iterations = atol(words[3]);
    const int threads = omp_get_max_threads();
    points = malloc((size_t)total * sizeof *points);
    of_thread = calloc((size_t)threads, sizeof *of_thread);
    if (points == NULL || of_thread == NULL || block < 1) return perror("kmeans"), 1;
    unsigned long state = 1;
    for (long i = 0; i < total; ++i)
        for (int d = 0; d < dimensions; ++d) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            points[i][d] = (double)(state >> 40) + (double)(i % centres) * 1e6;
        }
    for (int c = 0; c < centres; ++c) memcpy(centre[c], points[c], sizeof centre[c]);
    const double begin = omp_get_wtime();
    for (long iteration = 0; iteration < iterations; ++iteration) {
        profile_iteration_begin("kmeans");
        memset(of_thread, 0, (size_t)threads * sizeof *of_thread);
#pragma omp parallel
#pragma omp single
        for (long first = 0; first < total; first += block) {
#pragma omp task
            assign_block(first, first + block < total ? first + block : total);
        }
        move_centres(threads);
        profile_iteration_end("kmeans");
    }
    printf("%.6f s an iteration, centre %.6f\n", (omp_get_wtime() - begin) / (double)iterations, centre[0][0]);
    return 0;
}
