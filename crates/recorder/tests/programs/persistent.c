/* Persistent receives of rank 0 with open source and tag: started one by one, and together with others; one is
   cancelled. */
#include <mpi.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    double data[3][100], back[2] = {0, 0};
    if (rank == 0) {
        /* Three from any source with any tag, and between them two that leave nothing open. */
        MPI_Request r[5];
        MPI_Recv_init(data[0], 100, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, own, &r[0]);
        MPI_Send_init(&back[0], 1, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r[1]);
        MPI_Recv_init(&back[1], 1, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &r[2]);
        MPI_Recv_init(data[1], 100, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, own, &r[3]);
        MPI_Recv_init(data[2], 100, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, own, &r[4]);
        for (int round = 0; round < 5; round++) {
            if (round % 2 == 0) {
                MPI_Startall(5, r);
            } else {
                MPI_Start(&r[0]);
                MPI_Startall(3, r + 1);
                MPI_Start(&r[4]);
            }
            MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
            MPI_Barrier(own);
        }
        MPI_Status status;
        int cancelled;
        MPI_Start(&r[3]);
        MPI_Cancel(&r[3]);
        MPI_Wait(&r[3], &status);
        MPI_Test_cancelled(&status, &cancelled);
        if (!cancelled) return 1;
        MPI_Barrier(own);
        for (int i = 0; i < 5; i++) MPI_Request_free(&r[i]);
        for (int other = 1; other < size; other++)
            MPI_Recv(data[0], 100, MPI_DOUBLE, other, MPI_ANY_TAG, own, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < 100; i++) data[0][i] = rank;
        for (int round = 0; round < 5; round++) {
            MPI_Send(data[0], round + 1 + rank, MPI_DOUBLE, 0, round + 1, own);
            MPI_Barrier(own);
        }
        /* Sent after the cancelled receive, which would take it otherwise. */
        MPI_Barrier(own);
        MPI_Send(data[0], 1, MPI_DOUBLE, 0, 9, own);
    }
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
