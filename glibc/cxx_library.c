// What GCC's libraries libstdc++ and libgcc ask for when they were built with a C library newer than 2.28 and are linked in.
// Contract: as the functions of the same names. Hidden. _dl_find_object() waits for the loader: not for handlers.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

/// Since 2.33; the same as without "64" where addresses have 64 bits.
int stat64(const char* restrict path, struct stat64* restrict status) { return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0); }
int lstat64(const char* restrict path, struct stat64* restrict status) { return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW); }
int fstat64(int file, struct stat64* status) { return (int)syscall(SYS_fstat, file, status); }

/// Since 2.32. 0: there may be threads, so atomic instructions are needed.
char __libc_single_threaded = 0;

/// Since 2.36.
void arc4random_buf(void* bytes, size_t size) {
    for (unsigned char* next = bytes; size != 0;) {
        const ssize_t got = getrandom(next, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) abort();
        next += got;
        size -= (size_t)got;
    }
}
uint32_t arc4random(void) {
    uint32_t number = 0;
    arc4random_buf(&number, sizeof number);
    return number;
}

static const long second = 1000000000;

/// Since 2.30. Waits by the clock of pthread_cond_timedwait, so it waits longer or shorter if somebody sets that clock meanwhile.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
    struct timespec now, there, end = *until;
    if (clock != CLOCK_REALTIME && clock_gettime(clock, &now) == 0 && clock_gettime(CLOCK_REALTIME, &there) == 0) {
        end.tv_sec += there.tv_sec - now.tv_sec;
        end.tv_nsec += there.tv_nsec - now.tv_nsec;
        for (; end.tv_nsec < 0; end.tv_nsec += second) --end.tv_sec;
        for (; end.tv_nsec >= second; end.tv_nsec -= second) ++end.tv_sec;
    }
    return pthread_cond_timedwait(condition, mutex, &end);
}

/// Since 2.35; glibc's struct dl_find_object, which older headers lack.
struct found_object {
    unsigned long long flags;
    void *start, *end;
    struct link_map* map;
    void* unwind_header;
    unsigned long long reserved[7];
};

struct question {
    uintptr_t address;
    struct found_object* found;
};

static int look_at(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    const struct question* asked = data;
    int is_inside = 0;
    const ElfW(Phdr)* unwind = NULL;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)* header = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_GNU_EH_FRAME) unwind = header;
        if (header->p_type == PT_LOAD && asked->address - start < header->p_memsz) is_inside = 1;
    }
    if (!is_inside || unwind == NULL) return is_inside ? -1 : 0;
    *asked->found = (struct found_object){.unwind_header = (void*)(info->dlpi_addr + unwind->p_vaddr)};
    return 1;
}

/// For libgcc, which wants to know nothing but where the unwind information is.
int _dl_find_object(void* address, struct dl_find_object* found) {
    struct question asked = {(uintptr_t)address, (struct found_object*)found};
    return dl_iterate_phdr(look_at, &asked) == 1 ? 0 : -1;
}

#pragma GCC visibility pop
