/* Lists of near pairs: each iteration, a task of OpenMP for each cell compares all of the cell's particles with each other, and lists the pairs that are
   near. Cells have equally many particles, but not equally dense ones. The lists live until the iteration's end. docs/timeline.md tells why some tasks take
   longer than others.

   pairs CELLS PARTICLES ITERATIONS: so many particles in each cell. */
#include <libprofile.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct particle {
    float x, y, z;
};
struct pair {
    int first, second;
};
struct list {
    struct pair* pairs;
    long count;
};

static __attribute__((noinline)) void find_pairs(const struct particle* cell, int particles, struct list* list) {
    list->pairs = malloc((size_t)particles * (size_t)(particles - 1) / 2 * sizeof *list->pairs);
    long count = 0;
    if (list->pairs == NULL) abort();
    for (int i = 0; i < particles; ++i)
        for (int k = i + 1; k < particles; ++k) {
            const float x = cell[i].x - cell[k].x, y = cell[i].y - cell[k].y, z = cell[i].z - cell[k].z;
            list->pairs[count] = (struct pair){i, k};
            count += x * x + y * y + z * z < 1; /* no branch, so a far pair takes as long as a near one */
        }
    list->count = count;
}

int main(int count, char** words) {
    if (count < 4) return fprintf(stderr, "usage: pairs CELLS PARTICLES ITERATIONS\n"), 2;
    const int cells = atoi(words[1]), particles = atoi(words[2]), iterations = atoi(words[3]);
    if (cells < 1 || particles < 2 || particles > 30000) return fprintf(stderr, "pairs: at least 1 cell, 2 to 30000 particles\n"), 2;
    struct particle* all = malloc((size_t)cells * (size_t)particles * sizeof *all);
    struct list* lists = calloc((size_t)cells, sizeof *lists);
    if (all == NULL || lists == NULL) return perror("pairs"), 1;
    unsigned long state = 1;
    for (long p = 0; p < (long)cells * particles; ++p) {
        float* const place = &all[p].x;
        const float width = 1 + 3 * (float)(p / particles * 7 % cells) / (float)cells; /* of the cell */
        for (int d = 0; d < 3; ++d) {
            state = state * 6364136223846793005ul + 1442695040888963407ul;
            place[d] = width * (float)(state >> 40) / (float)(1 << 24);
        }
    }
    const double begin = omp_get_wtime();
    long pairs = 0;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        profile_iteration_begin("pairs");
#pragma omp parallel
#pragma omp single
        for (int c = 0; c < cells; ++c) {
#pragma omp task
            find_pairs(all + (long)c * particles, particles, lists + c);
        }
        for (int c = 0; c < cells; ++c) {
            pairs += lists[c].count;
            free(lists[c].pairs);
        }
        profile_iteration_end("pairs");
    }
    printf("%.6f s an iteration, %ld pairs\n", (omp_get_wtime() - begin) / iterations, pairs);
    return 0;
}
