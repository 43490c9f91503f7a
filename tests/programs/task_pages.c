/* Tasks of OpenMP that touch known numbers of new pages, and depend on the first of them; then tasks that only read these pages. Thread 0 makes them all, in
 * the order of the printed lines "block ADDRESS PAGES"; between these, 8 take 10 ms each. Usage: task_pages BLOCKS */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { page = 4096, most_pages = 7, warm_up = 200, pauses = 8 };

static void touch(volatile char* block, int pages) {
    for (int i = 0; i < pages; ++i) block[i * page] = 1;
}

static long sum(const volatile char* block, int pages) {
    long all = 0;
    for (int i = 0; i < pages; ++i) all += block[i * page];
    return all;
}

/* Stacks have their pages before anything is counted. */
static void touch_stack(void) {
    volatile char room[256 * 1024];
    for (size_t i = 0; i < sizeof room; i += page) room[i] = 1;
}

static void wait_for(long ns) { nanosleep(&(struct timespec){0, ns}, NULL); }

int main(int argc, char** argv) {
    const int blocks = argc > 1 ? atoi(argv[1]) : 50;
    char* const memory = mmap(NULL, (size_t)(blocks + 1) * most_pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    madvise(memory, (size_t)(blocks + 1) * most_pages * page, MADV_NOHUGEPAGE);
    char* const known = memory + (size_t)blocks * most_pages * page;
    touch(known, most_pages);
    for (int i = 0; i < blocks; ++i) printf("block %lu %d\n", (unsigned long)(memory + (size_t)i * most_pages * page), i % most_pages + 1);
    long all = 0;
#pragma omp parallel
    {
        touch_stack();
#pragma omp barrier
#pragma omp master
        {
            for (int i = 0; i < warm_up; ++i) {
#pragma omp task firstprivate(i)
                {
                    touch(known, i % most_pages + 1);
                    wait_for(100000); /* for the other thread to take some */
                }
            }
#pragma omp taskwait
            for (int i = 0; i < blocks; ++i) {
                char* const block = memory + (size_t)i * most_pages * page;
#pragma omp task firstprivate(i, block) depend(out : block[0])
                touch(block, i % most_pages + 1);
            }
#pragma omp taskwait
            for (int i = 0; i < pauses; ++i) {
#pragma omp task
                wait_for(10000000);
#pragma omp taskwait
            }
            for (int i = 0; i < blocks; ++i) {
                char* const block = memory + (size_t)i * most_pages * page;
#pragma omp task firstprivate(i, block) depend(in : block[0]) shared(all)
                {
                    const long part = sum(block, i % most_pages + 1);
#pragma omp atomic
                    all += part;
                }
            }
#pragma omp taskwait
        }
    }
    printf("sum %ld\n", all);
    return 0;
}
