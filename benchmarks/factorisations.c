/* Factorisations of ScaLAPACK, whose loops over blocks of columns or rows make a known number of iterations: SIZE / BLOCK each, less the
 * one or two blocks that the library does outside the loop. Matrices are tall or wide, so that the last iterations are not much shorter than the first.
 *
 * factorisations NAME LONG SIZE BLOCK: NAME is lu, qr, ql, lq or rq; or orgqr, orgql, orglq or orgrq, which also make the orthogonal matrix of
 * the factorisation. Prints the number of blocks.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridexit(int context);
int numroc_(const int* n, const int* block, const int* process, const int* first, const int* processes);
void descinit_(int* descriptor, const int* rows, const int* columns, const int* row_block, const int* column_block, const int* first_row,
               const int* first_column, const int* context, const int* local_rows, int* info);
typedef void Orthogonal(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* descriptor, double* tau, double* work,
                        const int* work_size, int* info);
Orthogonal pdgeqrf_, pdgeqlf_, pdgelqf_, pdgerqf_;
typedef void Matrix(const int* m, const int* n, const int* k, double* a, const int* ia, const int* ja, const int* descriptor, const double* tau, double* work,
                    const int* work_size, int* info);
Matrix pdorgqr_, pdorgql_, pdorglq_, pdorgrq_;
void pdgetrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* descriptor, int* pivots, int* info);

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc < 5) return 2;
    const char* name = argv[1];
    int makes = strncmp(name, "org", 3) == 0;
    if (makes) name += 3;
    int wide = strcmp(name, "lq") == 0 || strcmp(name, "rq") == 0;
    int size = atoi(argv[3]), block = atoi(argv[4]);
    int m = wide ? size : atoi(argv[2]), n = wide ? atoi(argv[2]) : size;
    int rank = 0, ranks = 1, context = 0, info = 0;
    const int zero = 0, one = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    Cblacs_get(0, 0, &context);
    int rows = wide ? 1 : ranks, columns = wide ? ranks : 1; /* the long side is divided */
    Cblacs_gridinit(&context, "Row", rows, columns);
    int row = wide ? 0 : rank, column = wide ? rank : 0, descriptor[9];
    int local_m = numroc_(&m, &block, &row, &zero, &rows), local_n = numroc_(&n, &block, &column, &zero, &columns);
    descinit_(descriptor, &m, &n, &block, &block, &zero, &zero, &context, &local_m, &info);
    double* a = malloc((size_t)local_m * (size_t)local_n * sizeof *a);
    double* tau = malloc((size_t)(local_m + local_n + block) * sizeof *tau);
    int* pivots = malloc((size_t)(local_m + block) * sizeof *pivots);
    if (a == NULL || tau == NULL || pivots == NULL) return 1;
    srand((unsigned)rank + 1);
    for (size_t i = 0; i < (size_t)local_m * (size_t)local_n; ++i) a[i] = rand() / (double)RAND_MAX;
    if (strcmp(name, "lu") == 0)
        pdgetrf_(&m, &n, a, &one, &one, descriptor, pivots, &info);
    else {
        Orthogonal* factor = strcmp(name, "qr") == 0 ? pdgeqrf_ : strcmp(name, "ql") == 0 ? pdgeqlf_ : wide && name[0] == 'l' ? pdgelqf_ : pdgerqf_;
        int query = -1;
        double wanted = 0;
        factor(&m, &n, a, &one, &one, descriptor, tau, &wanted, &query, &info);
        int work_size = (int)wanted;
        double* work = malloc((size_t)work_size * sizeof *work);
        if (work == NULL) return 1;
        factor(&m, &n, a, &one, &one, descriptor, tau, work, &work_size, &info);
        free(work);
        if (makes && info == 0) {
            Matrix* make = strcmp(name, "qr") == 0 ? pdorgqr_ : strcmp(name, "ql") == 0 ? pdorgql_ : wide && name[0] == 'l' ? pdorglq_ : pdorgrq_;
            make(&m, &n, &size, a, &one, &one, descriptor, tau, &wanted, &query, &info);
            work_size = (int)wanted;
            work = malloc((size_t)work_size * sizeof *work);
            if (work == NULL) return 1;
            make(&m, &n, &size, a, &one, &one, descriptor, tau, work, &work_size, &info);
            free(work);
        }
    }
    if (rank == 0) printf("%d\n", (size + block - 1) / block);
    free(a);
    free(tau);
    free(pivots);
    Cblacs_gridexit(context);
    MPI_Finalize();
    return info != 0;
}
