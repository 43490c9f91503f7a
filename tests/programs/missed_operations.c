/* A collective operation that rank 1 cannot count, and four that it can: missed_operations HOW. "freed": while it waits in the first one, a thread of it
   wants to free MPI_COMM_WORLD, which MPI refuses. "unseen": a thread makes it that no interposed pthread_create has seen begin. 2 ranks. */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static void *free_world(void *unused) {
    MPI_Comm world = MPI_COMM_WORLD;
    usleep(100000); /* until the operation has begun */
    MPI_Comm_free(&world);
    return unused;
}

static void *operation(void *unused) {
    double one = 1, sum;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return unused;
}

typedef int create_thread(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int main(int argc, char **argv) {
    int level, rank;
    pthread_t thread;
    const int is_unseen = argc > 1 && strcmp(argv[1], "unseen") == 0;
    create_thread *unseen = (create_thread *)dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) usleep(300000);
    if (rank == 1) (is_unseen ? unseen : pthread_create)(&thread, NULL, is_unseen ? operation : free_world, NULL);
    if (rank == 0 || !is_unseen) operation(NULL);
    if (rank == 1) pthread_join(thread, NULL);
    for (int i = 0; i < 4; ++i) operation(NULL);
    MPI_Finalize();
    return 0;
}
