/* The log that a program of the matrix keeps next to each MPI call it makes: visits of the function, and what the call
 * adds to each metric (docs/metrics.md), in numbers written by hand. Bytes and counts go to the function logged last.
 * log_finish() writes calls.RANK.json and prints a digest of everything observed. For C, C++ and Fortran; one thread. */
#ifndef CALL_LOG_H
#define CALL_LOG_H

#ifdef __cplusplus
extern "C" {
#endif

/* After the call: `result` is its error code, which must be 0. */
int logged(const char* function, int result, int line);
/* Before the call, for languages whose calls return no code. */
void log_call(const char* function);
void log_metric(const char* metric, long long value);
/* Around the body of a callback that makes calls itself. */
void log_callback_begin(void);
void log_callback_end(void);

void sent(long long bytes);
void received(long long bytes);
void barrier_passed(void);
void collective(const char* role, long long out, long long in);
#define AS_SOURCE "collective_as_source"
#define AS_DESTINATION "collective_as_destination"
#define EXCHANGE "collective_exchange"
void put(long long bytes);
void got(long long bytes);
void atomic(long long put_bytes, long long got_bytes);
void file_read(long long bytes);
void file_written(long long bytes);
void file_collective_read(long long bytes);
void file_collective_written(long long bytes);

/* With CALL_LOG_STEPS, iterations of 16 calls each are marked, and log_finish() also writes order.RANK.json: the calls of each iteration in the
 * order of their ends. Before MPI_Finalize, in languages that log a call after it: the last iteration ends. */
void log_steps_end(void);

/* Results of the program: they must be the same with and without libprofile. */
void observe(const void* data, long long bytes);
void observe_number(long long number);
void check(int condition, int line);
/* The exit code of the program. */
int log_finish(const char* program, int rank);

#ifdef __cplusplus
}
#endif

#endif
