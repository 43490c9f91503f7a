/* Gauss-Seidel on a square grid in blocks, as tasks of OpenMP: a block waits for its upper and left neighbour of this sweep and for the others of the
   sweep before, so the blocks that can run at once are a wave front. docs/timeline.md tells what its timeline shows.

   seidel BLOCKS SIZE SWEEPS [wait] [huge]: BLOCKS x BLOCKS blocks of SIZE x SIZE numbers.
   wait: no sweep begins before the one before it is over. huge: asks for large pages. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static long blocks, size, width; /* a border of zeroes around the grid */
static double* grid;

static __attribute__((noinline)) void init_block(long row, long column) {
    for (long y = 1 + row * size; y <= (row + 1) * size; ++y)
        for (long x = 1 + column * size; x <= (column + 1) * size; ++x) grid[y * width + x] = (double)((x * 7 + y * 13) % 101);
}

static __attribute__((noinline)) void relax_block(long row, long column) {
    for (long y = 1 + row * size; y <= (row + 1) * size; ++y)
        for (long x = 1 + column * size; x <= (column + 1) * size; ++x)
            grid[y * width + x] = 0.2 * (grid[y * width + x] + grid[(y - 1) * width + x] + grid[(y + 1) * width + x] + grid[y * width + x - 1] + grid[y * width + x + 1]);
}

/* What the depend clauses name: a byte for each block, with a border. */
static char* done;
#define BLOCK(row, column) done[((row) + 1) * (blocks + 2) + (column) + 1]

static void sweep(void) {
    for (long row = 0; row < blocks; ++row)
        for (long column = 0; column < blocks; ++column) {
#pragma omp task depend(in : BLOCK(row - 1, column), BLOCK(row, column - 1), BLOCK(row + 1, column), BLOCK(row, column + 1)) depend(inout : BLOCK(row, column))
            relax_block(row, column);
        }
}

int main(int count, char** words) {
    if (count < 4) return fprintf(stderr, "usage: seidel BLOCKS SIZE SWEEPS [wait] [huge]\n"), 2;
    blocks = atol(words[1]);
    size = atol(words[2]);
    const long sweeps = atol(words[3]);
    int waits = 0, huge = 0;
    for (int i = 4; i < count; ++i) {
        waits |= strcmp(words[i], "wait") == 0;
        huge |= strcmp(words[i], "huge") == 0;
    }
    width = blocks * size + 2;
    const size_t large_page = (size_t)2 << 20, bytes = (size_t)(width * width) * sizeof(double) + large_page;
    char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    done = calloc((size_t)((blocks + 2) * (blocks + 2)), 1);
    if (memory == MAP_FAILED || done == NULL) return perror("seidel"), 1;
    if (madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0 && huge) return perror("seidel: large pages"), 1;
    grid = (double*)(memory + (large_page - (size_t)memory % large_page) % large_page);

    double begin = 0, initialised = 0, end = 0;
#pragma omp parallel
#pragma omp single
    {
        begin = omp_get_wtime();
        for (long row = 0; row < blocks; ++row)
            for (long column = 0; column < blocks; ++column) {
#pragma omp task depend(out : BLOCK(row, column))
                init_block(row, column);
            }
#pragma omp taskwait
        initialised = omp_get_wtime();
        for (long s = 0; s < sweeps; ++s) {
            sweep();
            if (waits) {
#pragma omp taskwait
            }
        }
#pragma omp taskwait
        end = omp_get_wtime();
    }
    double sum = 0;
    for (long i = 0; i < width * width; ++i) sum += grid[i];
    printf("init %.6f s, sweeps %.6f s, sum %.17g\n", initialised - begin, end - initialised, sum);
    return 0;
}
