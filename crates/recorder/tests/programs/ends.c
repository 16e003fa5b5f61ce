/* Makes 300 rounds of messages in a ring, then rank 1 ends in the way named by the argument; the others wait for it. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int deep(volatile char *above) {
    volatile char room[10000];
    room[0] = *above;
    return deep(room) + room[0];
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size, x = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *how = argc > 1 ? argv[1] : "finalize";
    for (int i = 0; i < 300; i++)
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &x, 1, MPI_INT, (rank + size - 1) % size, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Request open;
    int never;
    MPI_Irecv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &open);
    if (rank == 1) {
        if (!strcmp(how, "abort")) MPI_Abort(MPI_COMM_WORLD, 7);
        if (!strcmp(how, "exit")) exit(5);
        if (!strcmp(how, "_exit")) _exit(5);
        if (!strcmp(how, "SIGABRT")) abort();
        if (!strcmp(how, "SIGSEGV")) *(volatile int *)8 = 1;
        if (!strcmp(how, "stack")) return deep((char *)&x);
        if (!strcmp(how, "SIGTERM")) raise(SIGTERM);
        if (!strcmp(how, "SIGFPE")) x = 1 / (x - x);
    }
    if (strcmp(how, "finalize")) MPI_Recv(&x, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Cancel(&open);
    MPI_Wait(&open, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
