/* What is received, or sent, is written in one iteration of a loop of loops: as late as the first of row 10. A compiler may store there
 * what it then reads from a register, and move the store of the row's sum behind the row. */
#include <mpi.h>

#define N 40
static double a[200000], w[N][20000];

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int k = 0; k < 5; k++) {
        if (rank == 0) MPI_Send(a, 200000, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD); // @send
        else MPI_Recv(a, 200000, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // @receive
        for (int i = 0; i < N; i++)
            for (int j = 0; j < 20000; j++) {
                w[i][j] = w[i][j] * 0.5 + 1; // @work
                if (i == 10 && j == 0) a[3] = w[i][j]; // @store
            }
    }
    MPI_Finalize();
    return 0;
}
