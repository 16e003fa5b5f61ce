/* A ping-pong with one buffer.
 *
 *     pingpong                   2 ranks
 *
 * Each rank sends what it received: every send needs the receive before it, and every receive must wait until the buffer is sent. Only the empty
 * loop on rank 0 is free: its send may go before it, or its receive may end behind it, but not both, or the message that is
 * sent would be the one of the round before.
 */
#include <mpi.h>
#include <string.h>

static char b[512];

static void S(int o) { MPI_Send(b, 512, MPI_BYTE, o, 1, MPI_COMM_WORLD); } // @send

static void R(int o) { MPI_Recv(b, 512, MPI_BYTE, o, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); } // @receive

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    volatile double x = 0;
    for (int k = 0; k < 10; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        memset(b, k + rank, 512);
        for (int i = 0; i < 50; i++) {
            if (rank == 0) {
                S(1);
                R(1);
            } else {
                R(0);
                S(0);
            }
            for (int q = 0; q < 200; q++) x += 1;
        }
        for (int i = 0; i < 512; i++) x += b[i];
    }
    MPI_Finalize();
    return x < 0;
}
