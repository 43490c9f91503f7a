#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "call_log.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

/* The order of calls, in iterations ("steps"). */
enum { STEP = 16 };
static char (*ordered)[NAME];
static int* step_of; /* by call */
static int order_count, step = -1, step_calls, is_initialised, is_logged_before;

static void mark(const char* marker) {
    void* function = dlsym(RTLD_DEFAULT, marker);
    void (*call)(const char*);
    memcpy(&call, &function, sizeof call);
    if (call)
        call("log");
}

static void begin_step(void) {
    mark("profile_iteration_begin");
    ++step;
    step_calls = 0;
}

void log_steps_end(void) {
    if (step >= 0 && is_initialised)
        mark("profile_iteration_end");
    is_initialised = 0;
}

static void append(const char* function) {
    if (order_count % 1024 == 0) {
        ordered = realloc(ordered, (order_count + 1024) * sizeof *ordered);
        step_of = realloc(step_of, (order_count + 1024) * sizeof *step_of);
    }
    snprintf(ordered[order_count], NAME, "%s", function);
    step_of[order_count++] = step;
    ++step_calls;
}

static void order_call(const char* function, int is_before) {
    static int is_on = -1;
    if (is_on < 0)
        is_on = getenv("CALL_LOG_STEPS") != NULL;
    if (!is_on)
        return;
    is_logged_before = is_before;
    if (is_initialised) {
        if (is_before && depth == 0 && strcmp(function, "MPI_Finalize") == 0)
            return log_steps_end();
        if (is_before && depth == 0 && (step < 0 || step_calls >= STEP)) {
            if (step >= 0)
                mark("profile_iteration_end");
            begin_step();
        }
        append(function);
    }
    if (strncmp(function, "MPI_Init", 8) == 0 && strcmp(function, "MPI_Initialized") != 0) {
        is_initialised = 1;
        if (!is_before)
            begin_step();
    } else if (is_initialised && !is_before && depth == 0 && step_calls >= STEP) {
        mark("profile_iteration_end");
        begin_step();
    }
}

static void order_write(int rank) {
    char name[NAME];
    snprintf(name, sizeof name, "order.%d.json", rank);
    FILE* file = order_count ? fopen(name, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "[");
    for (int i = 0; i < order_count; ++i)
        fprintf(file, "%s[%d, \"%s\"]", i ? ",\n " : "", step_of[i], ordered[i]);
    fprintf(file, "]\n");
    fclose(file);
}

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

static void count_call(const char* function) {
    snprintf(current, NAME, "%s", function);
    log_metric("visits", 1);
}

void log_call(const char* function) {
    order_call(function, 1);
    count_call(function);
}

int logged(const char* function, int result, int line) {
    order_call(function, 0);
    count_call(function);
    if (result != 0) {
        fprintf(stderr, "%s in line %d: result %d\n", function, line, result);
        ++mistakes;
    }
    return result;
}

/* Calls made in the callback end before the one that it interrupts. Where that was logged already, it moves behind them. */
void log_callback_begin(void) {
    memcpy(suspended[depth++], current, NAME);
    if (is_logged_before && order_count && strcmp(ordered[order_count - 1], current) == 0) {
        --order_count;
        --step_calls;
    }
}

void log_callback_end(void) {
    memcpy(current, suspended[--depth], NAME);
    if (is_logged_before && is_initialised)
        append(current);
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
    order_write(rank);
    /* One write, so that lines of several ranks do not mix. */
    char line[2 * NAME];
    snprintf(line, sizeof line, "%s: rank %d, digest %016llx, %d mistakes\n", program, rank,
             (unsigned long long)digest, mistakes);
    fputs(line, stdout);
    fflush(stdout);
    return mistakes ? 3 : 0;
}
