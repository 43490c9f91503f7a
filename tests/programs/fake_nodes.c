/* To be preloaded in front of libprofile: a kernel on which the page at address A lies on node A / 4096 % 3, whatever the machine has. FAKE_NODES=refuse: it
 * may not be asked; FAKE_NODES=late: the first time, pages with an even number are not in memory. Says each time on standard error that it was asked. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static long (*real)(long, ...);
static const char* mode = "";
static int asked;

__attribute__((constructor)) static void begin(void) {
    real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (getenv("FAKE_NODES") != NULL) mode = getenv("FAKE_NODES");
}

static long move_pages(unsigned long count, void** pages, const int* nodes, int* status) {
    if (nodes != NULL) abort(); /* nobody moves anything */
    ++asked;
    dprintf(2, "asked\n");
    if (strcmp(mode, "refuse") == 0) {
        errno = EPERM;
        return -1;
    }
    for (unsigned long i = 0; i < count; ++i) {
        const uintptr_t number = (uintptr_t)pages[i] / 4096;
        status[i] = strcmp(mode, "late") == 0 && asked == 1 && number % 2 == 0 ? -ENOENT : (int)(number % 3);
    }
    return 0;
}

long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_move_pages) return move_pages((unsigned long)a[1], (void**)a[2], (const int*)a[3], (int*)a[4]);
    if (real == NULL) begin();
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
