/* Programs that wait for ever, in the way named by the argument; and one that only seems to. */
#include <mpi.h>
#include <string.h>

static char data[1 << 20];

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *how = argv[1];
    int next = (rank + 1) % size;
    MPI_Comm world = MPI_COMM_WORLD;
    if (!strcmp(how, "recv")) MPI_Recv(data, 1, MPI_CHAR, next, 7, world, MPI_STATUS_IGNORE);
    if (!strcmp(how, "send")) {
        MPI_Send(data, sizeof data, MPI_CHAR, next, 7, world);
        MPI_Recv(data, sizeof data, MPI_CHAR, MPI_ANY_SOURCE, 7, world, MPI_STATUS_IGNORE);
    }
    if (!strcmp(how, "tag")) {
        MPI_Send(data, 1, MPI_CHAR, next, 7, world);
        MPI_Recv(data, 1, MPI_CHAR, MPI_ANY_SOURCE, 8, world, MPI_STATUS_IGNORE);
    }
    if (!strcmp(how, "wait")) {
        MPI_Request r;
        MPI_Irecv(data, 1, MPI_CHAR, next, 8, world, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    if (!strcmp(how, "collective")) {
        if (rank) MPI_Barrier(world);
        else MPI_Recv(data, 1, MPI_CHAR, 1, 8, world, MPI_STATUS_IGNORE);
    }
    if (!strcmp(how, "end") && rank) MPI_Recv(data, 1, MPI_CHAR, 0, 8, world, MPI_STATUS_IGNORE);
    if (!strcmp(how, "poll")) {
        if (rank == 0) {
            int there = 0;
            while (!there) MPI_Iprobe(1, 5, world, &there, MPI_STATUS_IGNORE);
            MPI_Recv(data, 1, MPI_CHAR, 1, 5, world, MPI_STATUS_IGNORE);
        }
        if (rank == 1) {
            MPI_Recv(data, 1, MPI_CHAR, 2, 6, world, MPI_STATUS_IGNORE);
            MPI_Send(data, 1, MPI_CHAR, 0, 5, world);
        }
        if (rank == 2) MPI_Send(data, 1, MPI_CHAR, 1, 6, world);
    }
    MPI_Finalize();
    return 0;
}
