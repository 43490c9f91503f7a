// lifecycle MODE [ARGUMENT]: ways to start and end MPI, to fail in it and to connect to other jobs. See main().
// Prints what it finds; tests/process/lifecycle.py knows the calls it makes.
#include <mpi.h>

#include <arpa/inet.h>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace {

int rank = 0, ranks = 0;
std::string mode;
std::jmp_buf left;

void say(const char* format, int a = 0, int b = 0) {
    char text[128];
    std::snprintf(text, sizeof text, format, a, b);
    std::printf("rank %d: %s\n", rank, text);
    std::fflush(stdout);
}

void know_rank() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

void finalize() {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

struct AtTheEnd {
    ~AtTheEnd() {
        if (mode == "static")
            finalize();
    }
} at_the_end;

[[gnu::destructor]] void last_of_all() {
    if (mode == "destructor")
        finalize();
}

void calls_after_the_end() {
    finalize();
    int initialized = 0, finalized = 0, version = 0, subversion = 0, length = 0;
    static char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    say("initialized %d, finalized %d", initialized, finalized);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(library, &length);
    say("version %d.%d", version, subversion);
}

int send_to_nobody(MPI_Comm comm) {
    return MPI_Send(&rank, 1, MPI_INT, ranks + 7, 0, comm);
}

void errors_that_return() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 5; ++i) {
        const int code = send_to_nobody(MPI_COMM_WORLD);
        int error_class = 0;
        MPI_Error_class(code, &error_class);
        if (error_class != MPI_ERR_RANK)
            say("wrong error class %d", error_class);
    }
}

int depth = 0;

// Calls MPI, once in such a way that it is called again.
void handler(MPI_Comm* comm, int* code, ...) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, error_class = 0, same = 0;
    MPI_Error_string(*code, text, &length);
    MPI_Error_class(*code, &error_class);
    MPI_Comm_rank(*comm, &same);
    if (same != rank || error_class != MPI_ERR_RANK || length == 0)
        say("wrong in the error handler: %d %d", same, error_class);
    if (++depth == 1)
        send_to_nobody(*comm);
    --depth;
}

void leaving_handler(MPI_Comm*, int*, ...) {
    std::longjmp(left, 1);
}

void errors_in(MPI_Comm_errhandler_function* function) {
    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(function, &errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
    for (int i = 0; i < 5; ++i)
        if (setjmp(left) == 0)
            send_to_nobody(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&errhandler);
}

void talk_to(MPI_Comm other, const char* what) {
    int remote = 0, sum = 0, one = 1;
    MPI_Comm_remote_size(other, &remote);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other);
    std::printf("%s: %d of %d, remote %d, sum %d\n", what, rank, ranks, remote, sum);
    std::fflush(stdout);
    MPI_Comm_disconnect(&other);
}

/// spawn, spawn_multiple: two children of this program, in the role "child".
void parent(const char* program, bool multiple) {
    MPI_Comm children;
    char role[] = "child";
    char* arguments[] = {role, nullptr};
    if (multiple) {
        std::string copies[] = {program, program};
        char* commands[] = {copies[0].data(), copies[1].data()};
        char** argument_lists[] = {arguments, arguments};
        const int counts[] = {1, 1};
        const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
        MPI_Comm_spawn_multiple(2, commands, argument_lists, counts, infos, 0, MPI_COMM_WORLD, &children,
                                MPI_ERRCODES_IGNORE);
    } else {
        MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
    }
    talk_to(children, "parent");
}

void child() {
    MPI_Comm from;
    MPI_Comm_get_parent(&from);
    talk_to(from, "child");
}

/// accept FILE, connect FILE: two jobs meet through a port whose name one of them writes.
void accept(const char* file) {
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        const std::string temporary = std::string(file) + ".new";
        std::FILE* out = std::fopen(temporary.c_str(), "w");
        std::fputs(port, out);
        std::fclose(out);
        std::rename(temporary.c_str(), file);
    }
    MPI_Comm other;
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    if (rank == 0)
        MPI_Close_port(port);
    talk_to(other, "accept");
}

void connect(const char* file) {
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) {
        while (access(file, R_OK) != 0)
            usleep(1000);
        std::FILE* in = std::fopen(file, "r");
        if (std::fgets(port, sizeof port, in) == nullptr)
            MPI_Abort(MPI_COMM_WORLD, 2);
        std::fclose(in);
    }
    MPI_Comm other;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
    talk_to(other, "connect");
}

/// Two ranks of a job make an intercommunicator from a socket between them.
void join() {
    int listener = -1, one = 1;
    sockaddr_in address{};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    if (rank == 0) {
        listener = connection;
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener, 1) != 0)
            MPI_Abort(MPI_COMM_WORLD, 3);
        getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    }
    MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        connection = ::accept(listener, nullptr, nullptr);
    else if (::connect(connection, reinterpret_cast<sockaddr*>(&address), size) != 0)
        MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Comm other;
    MPI_Comm_join(connection, &other);
    close(connection);
    talk_to(other, "join");
}

#if MPI_VERSION >= 4
/// Sessions only; "_exit" ends the process without a word after the last one.
int sessions(const std::string& ending) {
    MPI_Session first, second;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    MPI_Group_from_session_pset(first, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "lifecycle", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < 10; ++i)
        MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&second);
    if (ending == "init") { // the world comes, too, and outlives the sessions
        MPI_Init(nullptr, nullptr);
        MPI_Session_finalize(&first);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        say("of %d ranks", ranks);
        return 0;
    }
    if (ending != "open")
        MPI_Session_finalize(&first);
    say("of %d ranks", ranks);
    if (ending == "_exit")
        _exit(3);
    return 3;
}
#endif

int start(const std::string& level) {
    const char* names[] = {"single", "funneled", "serialized", "multiple"};
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    for (int i = 0; i < 4; ++i)
        if (level == names[i]) {
            int provided = -1, asked = -1;
            const int code = MPI_Init_thread(nullptr, nullptr, levels[i], &provided);
            MPI_Query_thread(&asked);
            know_rank();
            say("provided %d, query %d", provided, asked);
            return code;
        }
    const int code = MPI_Init(nullptr, nullptr);
    if (code == MPI_SUCCESS)
        know_rank();
    return code;
}

} // namespace

int main(int argc, char** argv) {
    mode = argc > 1 ? argv[1] : "plain";
    const std::string argument = argc > 2 ? argv[2] : "";
#if MPI_VERSION >= 4
    if (mode == "sessions")
        return sessions(argument);
#endif
    if (mode == "atexit")
        std::atexit(finalize);
    if (start(argument) != MPI_SUCCESS)
        return 9;
    if (mode == "after") {
        calls_after_the_end();
        return 0;
    }
    if (mode == "return")
        errors_that_return();
    if (mode == "handler")
        errors_in(handler);
    if (mode == "longjmp")
        errors_in(leaving_handler);
    if (mode == "spawn" || mode == "spawn_multiple")
        parent(argv[0], mode == "spawn_multiple");
    if (mode == "child")
        child();
    if (mode == "accept")
        accept(argument.c_str());
    if (mode == "connect")
        connect(argument.c_str());
    if (mode == "join")
        join();
    if (mode == "atexit" || mode == "static" || mode == "destructor")
        return 4; // they finalize on the way out
    finalize();
    return 0;
}
