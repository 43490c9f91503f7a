/* A log of the MPI traffic of a test program, per phase: calls of each function, and what a call adds to each metric
 * (docs/metrics.md). tally_write() stores it as JSON. One thread only. */
#ifndef TALLY_H
#define TALLY_H

#include <stdio.h>
#include <string.h>

#define TALLY_PHASES 8
#define TALLY_NAMES 128

struct tally_phase {
    const char* name;
    const char* kinds[TALLY_NAMES]; /* "calls" or "metrics" */
    const char* names[TALLY_NAMES];
    long long values[TALLY_NAMES];
    int count;
};

static struct tally_phase tally_phases[TALLY_PHASES] = {{.name = ""}};
static int tally_phase_count = 1;
static int tally_stack[TALLY_PHASES];
static int tally_depth;

static void tally_add(const char* kind, const char* name, long long value) {
    struct tally_phase* phase = &tally_phases[tally_stack[tally_depth]];
    int i = 0;
    while (i < phase->count && (strcmp(phase->names[i], name) != 0 || strcmp(phase->kinds[i], kind) != 0))
        ++i;
    if (i == phase->count) {
        phase->kinds[i] = kind;
        phase->names[i] = name;
        ++phase->count;
    }
    phase->values[i] += value;
}

static void tally_enter(const char* name) {
    int i = 0;
    while (i < tally_phase_count && strcmp(tally_phases[i].name, name) != 0)
        ++i;
    if (i == tally_phase_count)
        tally_phases[tally_phase_count++].name = name;
    tally_stack[++tally_depth] = i;
}

static void tally_leave(void) {
    --tally_depth;
}

/* CALL(Send, (buffer, ...)) makes the call and logs it. */
#define CALL(name, arguments) (tally_add("calls", "MPI_" #name, 1), MPI_##name arguments)
#define PCALL(name, arguments) (tally_add("calls", "MPI_" #name, 1), PMPI_##name arguments)

static void sent(long long bytes) {
    tally_add("metrics", bytes ? "p2p_send_communications" : "p2p_send_synchronizations", 1);
    tally_add("metrics", "p2p_bytes_sent", bytes);
}

static void received(long long bytes) {
    tally_add("metrics", bytes ? "p2p_receive_communications" : "p2p_receive_synchronizations", 1);
    tally_add("metrics", "p2p_bytes_received", bytes);
}

static void collective(const char* role, long long out, long long in) {
    tally_add("metrics", role, 1);
    tally_add("metrics", "collective_bytes_outgoing", out);
    tally_add("metrics", "collective_bytes_incoming", in);
}
#define AS_SOURCE "collective_as_source"
#define AS_DESTINATION "collective_as_destination"
#define EXCHANGE "collective_exchange"

static void tally_write(int rank) {
    char name[64];
    snprintf(name, sizeof name, "log.%d.json", rank);
    FILE* file = fopen(name, "w");
    if (!file)
        return;
    fprintf(file, "{");
    for (int p = 0; p < tally_phase_count; ++p) {
        fprintf(file, "%s\"%s\": {", p ? ", " : "", tally_phases[p].name);
        for (int pass = 0; pass < 2; ++pass) {
            const char* kind = pass ? "metrics" : "calls";
            const char* separator = "";
            fprintf(file, "%s\"%s\": {", pass ? ", " : "", kind);
            for (int i = 0; i < tally_phases[p].count; ++i)
                if (strcmp(tally_phases[p].kinds[i], kind) == 0) {
                    fprintf(file, "%s\"%s\": %lld", separator, tally_phases[p].names[i],
                            tally_phases[p].values[i]);
                    separator = ", ";
                }
            fprintf(file, "}");
        }
        fprintf(file, "}");
    }
    fprintf(file, "}\n");
    fclose(file);
}

#endif
