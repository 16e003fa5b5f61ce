/* Calls of which the trace has only the time: partitioned messages, persistent collective operations, counts of 64 bits (MPI 4). */
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
#if MPI_VERSION >= 4
    int rank, a[4] = {1, 2, 3, 4}, b[4] = {0}, there = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int other = rank ^ 1;
    MPI_Request request;
    if (rank % 2 == 0) {
        MPI_Psend_init(a, 2, 2, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        MPI_Pready(0, request);
        MPI_Pready(1, request);
    } else {
        MPI_Precv_init(b, 2, 2, MPI_INT, other, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        while (!there) MPI_Parrived(request, 1, &there);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank % 2 && b[3] != 4) return 1;
    MPI_Request_free(&request);
    MPI_Bcast_init(a, 4, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    if (rank % 2 == 0) MPI_Send_c(a, 4, MPI_INT, other, 9, MPI_COMM_WORLD);
    else MPI_Recv_c(b, 4, MPI_INT, other, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#endif
    MPI_Finalize();
    return 0;
}
