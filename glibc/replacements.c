// What the C library has only since a version after 2.28, in terms of what it had then.
// Contract: as the functions of the same names, which the headers of the C library declare. Hidden: each library or program that contains this
// file has its own. Async-signal-safe where they are, except strerrordesc_np().
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

/// Since 2.33; before, headers made __xstat and the like of them. The kernel's structure is the C library's.
int stat(const char* restrict path, struct stat* restrict status) { return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, 0); }
int lstat(const char* restrict path, struct stat* restrict status) { return (int)syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW); }
int fstat(int file, struct stat* status) { return (int)syscall(SYS_fstat, file, status); }

/// Since 2.30.
pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

/// Since 2.32. This one also has a text for numbers that are no errors.
const char* strerrordesc_np(int error) { return strerror_l(error, newlocale(LC_ALL_MASK, "C", (locale_t)0)); }

#pragma GCC visibility pop
