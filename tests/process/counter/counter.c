/* The rest of the independent counter (generate.py): finds the next definition of each name when the library is loaded,
 * and writes the counts of the process to $COUNTER_OUTPUT.RANK when it ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

extern const char* const counter_names[];
extern unsigned long counter_calls[];
extern void* counter_next[];

__attribute__((constructor)) static void find_next(void) {
    for (int i = 0; counter_names[i] != NULL; ++i) counter_next[i] = dlsym(RTLD_NEXT, counter_names[i]);
}

__attribute__((destructor)) static void write_counts(void) {
    const char* output = getenv("COUNTER_OUTPUT");
    const char* rank = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    unsigned long all = 0;
    for (int i = 0; counter_names[i] != NULL; ++i) all += counter_calls[i];
    if (output == NULL || rank == NULL || all == 0) return;
    char name[4096];
    snprintf(name, sizeof name, "%s.%s", output, rank);
    FILE* file = fopen(name, "a");
    if (file == NULL) return;
    for (int i = 0; counter_names[i] != NULL; ++i)
        if (counter_calls[i] != 0) fprintf(file, "%s %lu\n", counter_names[i], counter_calls[i]);
    fclose(file);
}
