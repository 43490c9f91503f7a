/* libprofile.h: phase markers for C and C++. Optional: libprofile also measures programs without them.
 *
 *     profile_iteration_begin("timestep");      one iteration of a loop: the unit of the time series
 *     profile_phase_begin("solve");             a part of the program, inside an iteration or outside all
 *     profile_phase_end("solve");
 *     profile_iteration_end("timestep");
 *     profile_region_begin("pack");             a piece of code, with its visits and time: cheaper than a phase,
 *     profile_region_end("pack");               but without a profile of its own
 *
 * Contract
 *   Needs    nothing: no library to link with, no MPI. Works in executables (PIE or not) and shared libraries,
 *            C99 and later, C++98 and later. With glibc older than 2.34 link with -ldl.
 *   Absent   if libprofile.so is not in the process, each marker is a load, a test and an empty call.
 *   Cost     about a microsecond with the library, except iteration_end, which closes the iteration's profile;
 *            regions a few tenths of that.
 *   Threads  any thread may use markers; they apply to the thread that calls them. Do not share one begin/end
 *            pair between threads.
 *   Signals  not async-signal-safe: no markers in signal handlers.
 *   Names    zero-terminated, read during the call only, equal text at begin and end.
 *   Nesting  begin and end must pair like brackets. A mismatch is reported once per job and repaired (an end
 *            closes what is still open inside; an end without its begin is ignored). It never ends the program.
 *   MPI      no communication: ranks need not mark the same loops, but the report can compare ranks only in
 *            loops that all of them mark.
 *
 * -DLIBPROFILE_NO_MARKERS compiles all markers away, for example for statically linked programs, which cannot
 * be measured.
 */
#ifndef LIBPROFILE_H
#define LIBPROFILE_H

#ifdef LIBPROFILE_NO_MARKERS

#define profile_iteration_begin(name) ((void)(name))
#define profile_iteration_end(name) ((void)(name))
#define profile_phase_begin(name) ((void)(name))
#define profile_phase_end(name) ((void)(name))
#define profile_region_begin(name) ((void)(name))
#define profile_region_end(name) ((void)(name))

#else

#include <dlfcn.h>
#include <stddef.h>

/* dlsym finds the library at run time. A weak reference would not do: in a non-PIE executable that is linked
 * without libprofile.so, ld resolves a weak undefined function to address 0 for good, and a preloaded library
 * is never found. */

/* C: each translation unit has its own copy. C++: one per executable or shared library, as the one-definition
 * rule demands; hidden, because a default-visible static variable of an inline function would keep a plug-in in
 * memory. */
/* Excludes the functions below from -finstrument-functions. */
#ifdef __cplusplus
#define LIBPROFILE_INLINE inline __attribute__((visibility("hidden"), no_instrument_function))
extern "C" {
#else
#define LIBPROFILE_INLINE static inline __attribute__((no_instrument_function))
#endif

/* Operations of the library's one entry point, void profile_marker_v1(int operation, const char* name). */
enum libprofile_operation {
    LIBPROFILE_ITERATION_BEGIN = 0,
    LIBPROFILE_ITERATION_END = 1,
    LIBPROFILE_PHASE_BEGIN = 2,
    LIBPROFILE_PHASE_END = 3,
    LIBPROFILE_REGION_BEGIN = 4,
    LIBPROFILE_REGION_END = 5
};

typedef void (*libprofile_marker_function)(int operation, const char* name);

LIBPROFILE_INLINE void libprofile_marker_absent(int operation, const char* name) {
    (void)operation;
    (void)name;
}

LIBPROFILE_INLINE libprofile_marker_function libprofile_marker_resolve(void) {
    union { /* ISO C has no cast from an object pointer to a function pointer */
        void* object;
        libprofile_marker_function function;
    } address;
    address.object = dlsym(NULL, "profile_marker_v1"); /* NULL is RTLD_DEFAULT, which needs _GNU_SOURCE */
    return address.object != NULL ? address.function : libprofile_marker_absent;
}

/* Looked up at the first marker and kept, also when absent. Threads that race here store the same value. */
LIBPROFILE_INLINE void libprofile_marker(enum libprofile_operation operation, const char* name) {
    static libprofile_marker_function resolved; /* zero-initialised: no guard, safe in static constructors */
    libprofile_marker_function marker = __atomic_load_n(&resolved, __ATOMIC_RELAXED);
    if (marker == NULL) {
        marker = libprofile_marker_resolve();
        __atomic_store_n(&resolved, marker, __ATOMIC_RELAXED);
    }
    marker((int)operation, name);
}

LIBPROFILE_INLINE void profile_iteration_begin(const char* name) { libprofile_marker(LIBPROFILE_ITERATION_BEGIN, name); }
LIBPROFILE_INLINE void profile_iteration_end(const char* name) { libprofile_marker(LIBPROFILE_ITERATION_END, name); }
LIBPROFILE_INLINE void profile_phase_begin(const char* name) { libprofile_marker(LIBPROFILE_PHASE_BEGIN, name); }
LIBPROFILE_INLINE void profile_phase_end(const char* name) { libprofile_marker(LIBPROFILE_PHASE_END, name); }
LIBPROFILE_INLINE void profile_region_begin(const char* name) { libprofile_marker(LIBPROFILE_REGION_BEGIN, name); }
LIBPROFILE_INLINE void profile_region_end(const char* name) { libprofile_marker(LIBPROFILE_REGION_END, name); }

#ifdef __cplusplus
}
#endif

#undef LIBPROFILE_INLINE

#endif /* LIBPROFILE_NO_MARKERS */

#endif /* LIBPROFILE_H */
