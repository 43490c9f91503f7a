/* life MODE [RANK]: a short MPI program. Its ranks, or only RANK, do what real programs do in addition to computing: they end early, die,
 * start other processes, close files. See the table in main(). */
#define _GNU_SOURCE
#include <mpi.h>

#include <libprofile.h>

#include <dlfcn.h>
#include <execinfo.h>
#include <grp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;
static int rank, ranks;

/* Ten marked iterations, each with one Allreduce. */
static void work(void) {
    for (int step = 0; step < 10; ++step) {
        int one = 1, sum = 0;
        profile_iteration_begin("step");
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != ranks)
            MPI_Abort(MPI_COMM_WORLD, 9);
        profile_iteration_end("step");
    }
}

static void finish(void) {
    if (rank == 0) {
        printf("life: %d ranks\n", ranks);
        fflush(stdout);
    }
    MPI_Finalize();
}

static int frames_of_libprofile;

static int look_at_stack(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
    void* frames[100];
    const int count = backtrace(frames, 100);
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    for (int i = 0; i < count; ++i) {
        Dl_info module;
        if (dladdr(frames[i], &module) != 0 && strstr(module.dli_fname, "libprofile.so") != NULL) ++frames_of_libprofile;
    }
    *flag = 0;
    return MPI_SUCCESS;
}

/* Says how many functions of libprofile are on the stack where MPI calls the program back. */
static void see_who_is_between(void) {
    MPI_Comm copy;
    int key;
    MPI_Comm_create_keyval(look_at_stack, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_free(&copy);
    if (rank == 0) printf("life: %d frames of libprofile\n", frames_of_libprofile);
}

/* What services do once they need no more privileges. The ranks have different call paths then. */
static void become_nobody(void) {
    if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (rank == 0)
        MPI_Barrier(MPI_COMM_SELF);
}

/* Each into a root folder of its own. */
static void change_root(void) {
    char folder[] = "rootXXXXXX";
    if (mkdtemp(folder) == NULL || chroot(folder) != 0 || chdir("/") != 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
}

static int status_of(pid_t child) {
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
}

static void report_child(const char* how, int status) {
    printf("rank %d: %s: %d\n", rank, how, status);
    fflush(stdout);
}

/* Children by all the usual ways; none of them is part of the job. */
static void children(void) {
    pid_t child = fork();
    if (child == 0) {
        profile_phase_begin("in the child");
        profile_phase_end("in the child");
        exit(11);
    }
    report_child("fork, exit", status_of(child));
    child = fork();
    if (child == 0)
        _exit(12);
    report_child("fork, _exit", status_of(child));
    child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 13", (char*)NULL);
        _exit(1);
    }
    report_child("fork, exec", status_of(child));
    child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char*)NULL);
        _exit(1);
    }
    report_child("vfork, exec", status_of(child));
    char* arguments[] = {"sh", "-c", "exit 14", NULL};
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) != 0)
        child = -1;
    report_child("posix_spawn", status_of(child));
    const int status = system("true");
    report_child("system", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    FILE* pipe = popen("echo from a pipe", "r");
    char text[32] = "";
    if (pipe != NULL && fgets(text, sizeof text, pipe) != NULL)
        report_child(strtok(text, "\n"), pclose(pipe));
}

static void mismatched_markers(void) {
    for (int i = 0; i < 5; ++i) {
        profile_iteration_begin("outer");
        profile_phase_begin("inner");
        MPI_Barrier(MPI_COMM_WORLD);
        profile_iteration_end("outer"); /* "inner" is open */
        profile_phase_end("inner");     /* not open any more */
        profile_phase_end("never begun");
    }
    profile_iteration_begin("left open");
    profile_iteration_begin("left open");
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "work";
    const int chosen = argc > 2 ? atoi(argv[2]) : -1;
#define IS(name) (strcmp(mode, name) == 0)
    if (IS("exec")) { /* replaces itself before MPI starts */
        execl(argv[0], argv[0], "work", (char*)NULL);
        return 1;
    }
    if (IS("closefrom"))
        for (int file = 3; file < 1024; ++file)
            close(file);
    if (IS("close_output")) {
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    work();
    if (rank == chosen || chosen < 0) {
        if (IS("exit"))
            exit(7);
        if (IS("_exit"))
            _exit(8);
        if (IS("kill"))
            raise(SIGKILL);
        if (IS("segv"))
            *(volatile int*)8 = 0;
        if (IS("abort"))
            MPI_Abort(MPI_COMM_WORLD, 5);
        if (IS("error"))
            MPI_Send(&rank, 1, MPI_INT, ranks + 3, 0, MPI_COMM_WORLD);
        if (IS("finalize_early")) {
            MPI_Finalize();
            return 0;
        }
        if (IS("leave_phase")) { /* Finalize inside an open iteration */
            profile_iteration_begin("open");
            MPI_Barrier(MPI_COMM_SELF);
        }
    } else if (IS("finalize_early")) {
        sleep(2);
        for (int i = 0; i < 10; ++i)
            MPI_Barrier(MPI_COMM_SELF);
    } else if (!IS("work")) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (IS("children"))
        children();
    if (IS("between"))
        see_who_is_between();
    if (IS("nobody"))
        become_nobody();
    if (IS("chroot"))
        change_root();
    if (IS("mismatch"))
        mismatched_markers();
    if (IS("exec_after")) {
        finish();
        execl("/bin/sh", "sh", "-c", "exit 0", (char*)NULL);
    }
    finish();
    return 0;
}
