/* snapshots gather|together FILE [STEPS [EVERY [SIZE]]]: heat on SIZE x SIZE cells (default 200 steps, 1000 cells), in C with MPI, without markers.
 *
 * Every EVERY-th step (default 20) appends the field to FILE as text, in one of two ways that give the same file:
 *
 *   gather    all ranks send their rows to rank 0, one after another; rank 0 turns all of them into text and writes. The others wait.
 *   together  each rank turns its own rows into text; all write at once, with MPI-IO.
 *
 * The first is how many programs write. It costs little on two ranks and most of the run on many. Prints the seconds that the steps took and the sum
 * of the field, which depends neither on the way of writing nor on the number of ranks by more than rounding. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { cell_width = 13 };

struct field {
    int rank, ranks, size, first, rows;
    double *cells, *next; /* rows + 2 rows: one more on each side, of the neighbours */
    double* received;     /* rows of another rank */
    char* text;           /* of as many rows as any rank has */
};

static int first_row(const struct field* f, int rank) {
    return (int)((long)f->size * rank / f->ranks);
}
static int rows_of(const struct field* f, int rank) {
    return first_row(f, rank + 1) - first_row(f, rank);
}
static double* row(const struct field* f, double* cells, int i) {
    return cells + (size_t)(i + 1) * (size_t)f->size;
}

static void* room(size_t bytes) {
    void* memory = calloc(1, bytes);
    if (memory == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

static __attribute__((noinline)) void exchange_rows(struct field* f) {
    const int above = f->rank > 0 ? f->rank - 1 : MPI_PROC_NULL, below = f->rank + 1 < f->ranks ? f->rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(row(f, f->cells, 0), f->size, MPI_DOUBLE, above, 1, row(f, f->cells, f->rows), f->size, MPI_DOUBLE, below, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(row(f, f->cells, f->rows - 1), f->size, MPI_DOUBLE, below, 2, row(f, f->cells, -1), f->size, MPI_DOUBLE, above, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static __attribute__((noinline)) void spread_heat(struct field* f) {
    for (int i = 0; i < f->rows; ++i) {
        if (f->first + i == 0 || f->first + i == f->size - 1) continue;
        const double *up = row(f, f->cells, i - 1), *here = row(f, f->cells, i), *down = row(f, f->cells, i + 1);
        double* next = row(f, f->next, i);
        for (int j = 1; j < f->size - 1; ++j) next[j] = here[j] + 0.2 * exp(-here[j]) * (up[j] + down[j] + here[j - 1] + here[j + 1] - 4 * here[j]);
    }
    double* const old = f->cells;
    f->cells = f->next;
    f->next = old;
}

/* @return the number of characters in f->text */
static __attribute__((noinline)) int rows_as_text(struct field* f, const double* cells, int rows) {
    char* to = f->text;
    for (int i = 0; i < rows * f->size; ++i) to += snprintf(to, cell_width + 1, "%12.5e\n", cells[i]);
    return (int)(to - f->text);
}

static void write_rows(struct field* f, FILE* file, const double* cells, int rows) {
    const size_t length = (size_t)rows_as_text(f, cells, rows);
    if (fwrite(f->text, 1, length, file) != length) MPI_Abort(MPI_COMM_WORLD, 1);
}

static __attribute__((noinline)) void write_through_rank_0(struct field* f, FILE* file) {
    if (f->rank != 0) {
        MPI_Send(row(f, f->cells, 0), f->rows * f->size, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
    } else {
        write_rows(f, file, row(f, f->cells, 0), f->rows);
        for (int other = 1; other < f->ranks; ++other) {
            const int rows = rows_of(f, other);
            MPI_Recv(f->received, rows * f->size, MPI_DOUBLE, other, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            write_rows(f, file, f->received, rows);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static __attribute__((noinline)) void write_together(struct field* f, MPI_File file, int snapshot) {
    const MPI_Offset line = (MPI_Offset)f->size * cell_width;
    const int length = rows_as_text(f, row(f, f->cells, 0), f->rows);
    MPI_File_write_at_all(file, ((MPI_Offset)snapshot * f->size + f->first) * line, f->text, length, MPI_CHAR, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    struct field f;
    MPI_Comm_rank(MPI_COMM_WORLD, &f.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &f.ranks);
    const int gathers = argc > 1 && strcmp(argv[1], "gather") == 0;
    const int steps = argc > 3 ? atoi(argv[3]) : 200, every = argc > 4 ? atoi(argv[4]) : 20;
    f.size = argc > 5 ? atoi(argv[5]) : 1000;
    if (argc < 3 || (!gathers && strcmp(argv[1], "together") != 0) || every < 1 || f.size < f.ranks || f.size > 10000) {
        if (f.rank == 0) fprintf(stderr, "usage: %s gather|together FILE [STEPS [EVERY [SIZE]]]\n", argv[0]);
        MPI_Finalize();
        return 2;
    }
    f.first = first_row(&f, f.rank);
    f.rows = rows_of(&f, f.rank);
    const size_t line = (size_t)f.size, most_rows = (size_t)(f.size / f.ranks + 1);
    f.cells = room((most_rows + 2) * line * sizeof(double));
    f.next = room((most_rows + 2) * line * sizeof(double));
    f.received = room(most_rows * line * sizeof(double));
    f.text = room(most_rows * line * cell_width + 1);
    for (int i = 0; i < f.rows; ++i)
        for (int j = 0; j < f.size; ++j) row(&f, f.cells, i)[j] = ((f.first + i) / 50 + j / 50) % 2;
    memcpy(f.next, f.cells, (most_rows + 2) * line * sizeof(double));

    FILE* file = NULL;
    MPI_File together = MPI_FILE_NULL;
    if (gathers) {
        if (f.rank == 0 && (file = fopen(argv[2], "w")) == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    } else {
        if (MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &together) != MPI_SUCCESS)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_File_set_size(together, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int step = 1; step <= steps; ++step) {
        exchange_rows(&f);
        spread_heat(&f);
        if (step % every != 0) continue;
        if (gathers)
            write_through_rank_0(&f, file);
        else
            write_together(&f, together, step / every - 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = MPI_Wtime() - begin;
    if (file != NULL && fclose(file) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    if (together != MPI_FILE_NULL) MPI_File_close(&together);

    double sum = 0, total = 0;
    for (int i = 0; i < f.rows * f.size; ++i) sum += row(&f, f.cells, 0)[i];
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (f.rank == 0) printf("%.3f s, sum %.6f\n", seconds, total);
    free(f.cells);
    free(f.next);
    free(f.received);
    free(f.text);
    MPI_Finalize();
    return 0;
}
