/* 300 operations of the program, each in a reduction of its own: many_operations. Prints their sum. */
#include <mpi.h>
#include <stdio.h>

#define EACH(number) \
    static void operation_##number(void *in, void *sum, int *length, MPI_Datatype *type) { \
        (void)length, (void)type; \
        *(int *)sum += *(int *)in + 1##number - 1000; \
    }
#define TEN(at, tens) at(tens##0) at(tens##1) at(tens##2) at(tens##3) at(tens##4) at(tens##5) at(tens##6) at(tens##7) at(tens##8) at(tens##9)
#define HUNDRED(at, hundreds) \
    TEN(at, hundreds##0) TEN(at, hundreds##1) TEN(at, hundreds##2) TEN(at, hundreds##3) TEN(at, hundreds##4) \
    TEN(at, hundreds##5) TEN(at, hundreds##6) TEN(at, hundreds##7) TEN(at, hundreds##8) TEN(at, hundreds##9)
#define ALL(at) HUNDRED(at, 0) HUNDRED(at, 1) HUNDRED(at, 2)
ALL(EACH)

#define NAME(number) operation_##number,
static MPI_User_function *const functions[] = {ALL(NAME)};

int main(int argc, char **argv) {
    int sum = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < (int)(sizeof functions / sizeof *functions); ++i) {
        int one = 1;
        MPI_Op operation;
        MPI_Op_create(functions[i], 1, &operation);
        MPI_Reduce_local(&one, &sum, 1, MPI_INT, operation);
        MPI_Op_free(&operation);
    }
    printf("%d\n", sum);
    MPI_Finalize();
    return 0;
}
