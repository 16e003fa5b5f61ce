/* Regions: by the header, by levels of MPI_Pcontrol, nested, unmatched, and around late receives. */
#include "hayase.h"
#include <mpi.h>
#include <stdio.h>

static double work(long steps)
{
    volatile double x = 1;
    for (long i = 0; i < steps; i++)
        x = x * 1.0000001 + 1e-9;
    return x;
}

int main(int argc, char **argv)
{
    int rank, size, data = 0;
    MPI_Request request;
    hayase_region_begin("too early");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 25; i++) {
        hayase_region_begin("iteration");
        work(100000);
        MPI_Barrier(MPI_COMM_WORLD);
        hayase_region_begin("solve");
        /* The event of the receive waits until its message is known; later events wait with it. */
        MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request);
        hayase_region_begin("send");
        MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD);
        hayase_region_end("send");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        hayase_region_end("solve");
        hayase_region_end("iteration");
    }
    MPI_Pcontrol(0);
    MPI_Pcontrol(1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(2);
    MPI_Pcontrol(0);
    MPI_Pcontrol(7);
    MPI_Pcontrol(-7, "not a name here");
    MPI_Pcontrol(-2);
    /* No name: a null pointer, memory that cannot be read, no text. */
    MPI_Pcontrol(1, (char *)0);
    MPI_Pcontrol(-1, (char *)1);
    MPI_Pcontrol(1, (char *)-4096);
    MPI_Pcontrol(-1, "\001\002\003");
    if (rank == 1)
        hayase_region_end("never begun");
    hayase_region_begin("never ended");
    printf("%d of rank %d\n", data, rank);
    MPI_Finalize();
    hayase_region_end("too late");
    return 0;
}
