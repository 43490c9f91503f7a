/* The Fortran 77 interface of libprofile.h: external subroutines for code that cannot `use libprofile`.
 *
 *     call profile_iteration_begin('timestep')
 *
 * Archive libprofile_fortran.a, linked with -lprofile_fortran. Contract: that of libprofile.h. Names carry
 * the trailing underscore, and strings the hidden length argument, of gfortran, ifort, ifx, nvfortran and
 * flang. */
#include "libprofile.h"

enum { LONGEST_NAME = 255 };

/* Compilers disagree whether the hidden length has 32 or 64 bits. Its lower half is valid with all of them.
 */
static void mark(enum libprofile_operation operation, const char* name, int length) {
    char zero_terminated[LONGEST_NAME + 1];
    int used = length < LONGEST_NAME ? length : LONGEST_NAME;
    while (used > 0 && name[used - 1] == ' ') --used;
    for (int i = 0; i < used; ++i) zero_terminated[i] = name[i];
    zero_terminated[used > 0 ? used : 0] = '\0';
    libprofile_marker(operation, zero_terminated);
}

void profile_iteration_begin_(const char* name, int length);
void profile_iteration_end_(const char* name, int length);
void profile_phase_begin_(const char* name, int length);
void profile_phase_end_(const char* name, int length);

void profile_region_begin_(const char* name, int length);
void profile_region_end_(const char* name, int length);

void profile_iteration_begin_(const char* name, int length) { mark(LIBPROFILE_ITERATION_BEGIN, name, length); }
void profile_iteration_end_(const char* name, int length) { mark(LIBPROFILE_ITERATION_END, name, length); }
void profile_phase_begin_(const char* name, int length) { mark(LIBPROFILE_PHASE_BEGIN, name, length); }
void profile_phase_end_(const char* name, int length) { mark(LIBPROFILE_PHASE_END, name, length); }
void profile_region_begin_(const char* name, int length) { mark(LIBPROFILE_REGION_BEGIN, name, length); }
void profile_region_end_(const char* name, int length) { mark(LIBPROFILE_REGION_END, name, length); }
