#include "call_log.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1024, NAME = 64 };

struct entry {
    char function[NAME];
    char metric[NAME];
    long long value;
};

static struct entry entries[MOST];
static int count;
static char current[NAME];
static char suspended[8][NAME];
static int depth;
static uint64_t digest = 14695981039346656037u;
static int mistakes;

void log_metric(const char* metric, long long value) {
    int i = 0;
    while (i < count && (strcmp(entries[i].function, current) != 0 || strcmp(entries[i].metric, metric) != 0))
        ++i;
    if (i == MOST) {
        fprintf(stderr, "call_log: too many entries\n");
        ++mistakes;
        return;
    }
    if (i == count) {
        snprintf(entries[i].function, NAME, "%s", current);
        snprintf(entries[i].metric, NAME, "%s", metric);
        ++count;
    }
    entries[i].value += value;
}

void log_call(const char* function) {
    snprintf(current, NAME, "%s", function);
    log_metric("visits", 1);
}

int logged(const char* function, int result, int line) {
    log_call(function);
    if (result != 0) {
        fprintf(stderr, "%s in line %d: result %d\n", function, line, result);
        ++mistakes;
    }
    return result;
}

void log_callback_begin(void) {
    memcpy(suspended[depth++], current, NAME);
}

void log_callback_end(void) {
    memcpy(current, suspended[--depth], NAME);
}

void sent(long long bytes) {
    log_metric(bytes ? "p2p_send_communications" : "p2p_send_synchronizations", 1);
    log_metric("p2p_bytes_sent", bytes);
}

void received(long long bytes) {
    log_metric(bytes ? "p2p_receive_communications" : "p2p_receive_synchronizations", 1);
    log_metric("p2p_bytes_received", bytes);
}

void barrier_passed(void) {
    log_metric("collective_synchronizations", 1);
}

void collective(const char* role, long long out, long long in) {
    log_metric(role, 1);
    log_metric("collective_bytes_outgoing", out);
    log_metric("collective_bytes_incoming", in);
}

void put(long long bytes) {
    log_metric("one_sided_puts", 1);
    log_metric("one_sided_bytes_put", bytes);
}

void got(long long bytes) {
    log_metric("one_sided_gets", 1);
    log_metric("one_sided_bytes_got", bytes);
}

void atomic(long long put_bytes, long long got_bytes) {
    log_metric("one_sided_atomics", 1);
    log_metric("one_sided_bytes_put", put_bytes);
    log_metric("one_sided_bytes_got", got_bytes);
}

void file_read(long long bytes) {
    log_metric("file_individual_reads", 1);
    log_metric("file_individual_bytes_read", bytes);
}

void file_written(long long bytes) {
    log_metric("file_individual_writes", 1);
    log_metric("file_individual_bytes_written", bytes);
}

void file_collective_read(long long bytes) {
    log_metric("file_collective_reads", 1);
    log_metric("file_collective_bytes_read", bytes);
}

void file_collective_written(long long bytes) {
    log_metric("file_collective_writes", 1);
    log_metric("file_collective_bytes_written", bytes);
}

void observe(const void* data, long long bytes) {
    const unsigned char* byte = data;
    for (long long i = 0; i < bytes; ++i)
        digest = (digest ^ byte[i]) * 1099511628211u;
}

void observe_number(long long number) {
    observe(&number, sizeof number);
}

void check(int condition, int line) {
    if (!condition) {
        fprintf(stderr, "mistake in line %d, after %s\n", line, current);
        ++mistakes;
    }
}

int log_finish(const char* program, int rank) {
    char name[NAME];
    snprintf(name, sizeof name, "calls.%d.json", rank);
    FILE* file = fopen(name, "w");
    if (!file)
        return 4;
    fprintf(file, "[");
    for (int i = 0; i < count; ++i)
        fprintf(file, "%s[\"%s\", \"%s\", %lld]", i ? ",\n " : "", entries[i].function, entries[i].metric,
                entries[i].value);
    fprintf(file, "]\n");
    fclose(file);
    /* One write, so that lines of several ranks do not mix. */
    char line[2 * NAME];
    snprintf(line, sizeof line, "%s: rank %d, digest %016llx, %d mistakes\n", program, rank,
             (unsigned long long)digest, mistakes);
    fputs(line, stdout);
    fflush(stdout);
    return mistakes ? 3 : 0;
}
