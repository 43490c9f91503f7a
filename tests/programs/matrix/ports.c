/* Names of services, and processes that connect. MPICH over UCX, as Debian has it, has names but no ports. */
#include "program.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static void names(void) {
    char port[MPI_MAX_PORT_NAME] = "some-port", found[MPI_MAX_PORT_NAME];
    if (rank != 0)
        return;
    CALL(Publish_name, ("matrix-service", MPI_INFO_NULL, port));
    CALL(Lookup_name, ("matrix-service", MPI_INFO_NULL, found));
    CHECK(strcmp(port, found) == 0);
    CALL(Unpublish_name, ("matrix-service", MPI_INFO_NULL, port));
}

#ifdef OPEN_MPI
static int is_first(const void* data, int bytes) {
    CALL(Bcast, ((void*)data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD));
    collective(rank == 0 ? AS_SOURCE : AS_DESTINATION, rank == 0 ? bytes : 0, rank == 0 ? 0 : bytes);
    return rank == 0;
}

/* Ranks 0 and 1 as server and client. */
static void connections(void) {
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm connection;
    if (rank == 0)
        CALL(Open_port, (MPI_INFO_NULL, port));
    if (is_first(port, sizeof port)) {
        CALL(Comm_accept, (port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &connection));
        CALL(Comm_disconnect, (&connection));
        CALL(Close_port, (port));
    } else if (rank == 1) {
        CALL(Comm_connect, (port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &connection));
        CALL(Comm_disconnect, (&connection));
    }
}

/* Ranks 0 and 1 have a socket in common. */
static void sockets(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    MPI_Comm connection;
    int connected = -1;
    const int own = socket(AF_INET, SOCK_STREAM, 0);
    if (rank == 0) {
        CHECK(bind(own, (struct sockaddr*)&address, size) == 0 && listen(own, 1) == 0);
        getsockname(own, (struct sockaddr*)&address, &size);
    }
    if (is_first(&address, sizeof address)) {
        connected = accept(own, NULL, NULL);
    } else if (rank == 1) {
        CHECK(connect(own, (struct sockaddr*)&address, size) == 0);
        connected = own;
    }
    if (rank < 2) {
        CALL(Comm_join, (connected, &connection));
        CALL(Comm_disconnect, (&connection));
        close(connected);
    }
    if (rank != 1)
        close(own);
}
#else
static void connections(void) {
    char port[MPI_MAX_PORT_NAME];
    CALL(Comm_set_errhandler, (MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CALL(Comm_set_errhandler, (MPI_COMM_SELF, MPI_ERRORS_RETURN));
    CALL_FAILS(Open_port, (MPI_INFO_NULL, port));
}
static void sockets(void) {}
#endif

int main(int argc, char** argv) {
    begin(&argc, &argv);
    names();
    connections();
    sockets();
    return end("ports");
}
