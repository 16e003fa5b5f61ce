/* Calls `step`: each needs the one before. */
#include <mpi.h>
#include <stdio.h>

double step(double);

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    double x = 1;
    for (int i = 0; i < 50; i++) x = step(x); // @calls
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("%g\n", x);
    MPI_Finalize();
    return 0;
}
