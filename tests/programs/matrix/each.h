/* EACH makes a collective call in every form: blocking, nonblocking, and persistent (MPI 4) started twice. All forms count the same; a
 * persistent call counts when it is started. */
#ifndef EACH_H
#define EACH_H

#include "program.h"

static MPI_Request each_request;

#ifdef HAS_FUNCTIONS_OF_MPI_4
#define EACH_PERSISTENT(FORM, Name, adds, ...)                                                               \
    FORM(Name##_init, (__VA_ARGS__, MPI_INFO_NULL, &each_request));                                          \
    for (int each_start = 0; each_start < 2; ++each_start) {                                                 \
        CALL(Start, (&each_request));                                                                        \
        adds;                                                                                                \
        CALL(Wait, (&each_request, MPI_STATUS_IGNORE));                                                      \
    }                                                                                                        \
    CALL(Request_free, (&each_request))
#else
#define EACH_PERSISTENT(FORM, Name, adds, ...) (void)0
#endif

#define EACH_FORM(FORM, Name, name, adds, ...)                                                               \
    do {                                                                                                     \
        FORM(Name, (__VA_ARGS__));                                                                           \
        adds;                                                                                                \
        FORM(I##name, (__VA_ARGS__, &each_request));                                                         \
        adds;                                                                                                \
        CALL(Wait, (&each_request, MPI_STATUS_IGNORE));                                                      \
        EACH_PERSISTENT(FORM, Name, adds, __VA_ARGS__);                                                      \
    } while (0)

/* EACH(Bcast, bcast, role, bytes out, bytes in, arguments of the blocking form...) */
#define EACH(Name, name, role, out_bytes, in_bytes, ...)                                                     \
    EACH_FORM(SIZED, Name, name, collective(role, out_bytes, in_bytes), __VA_ARGS__)

#endif
