/* Options are broadcast one by one; then a loop exchanges with both neighbours and adds up. "solve" is the loop, and in it is "exchange".
 *
 * regions [iterations [work]]
 */
#include "hayase.h"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double work(double x, long steps)
{
    for (long i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-7;
    return x;
}

int main(int argc, char **argv)
{
    int rank, size, iterations = argc > 1 ? atoi(argv[1]) : 20;
    long steps = argc > 2 ? atol(argv[2]) : 100000;
    double options[8] = {0}, left = 0, right = 0, x = 1, sum = 0, start, end;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 8; i++)
        MPI_Bcast(&options[i], 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    int up = (rank + 1) % size, down = (rank + size - 1) % size;
    start = MPI_Wtime();
    hayase_region_begin("solve");
    for (int i = 0; i < iterations; i++) {
        x = work(x, steps);
        hayase_region_begin("exchange");
        MPI_Sendrecv(&x, 1, MPI_DOUBLE, up, 1, &left, 1, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&x, 1, MPI_DOUBLE, down, 2, &right, 1, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        hayase_region_end("exchange");
        x = work((x + left + right) / 3, steps / 2);
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    hayase_region_end("solve");
    end = MPI_Wtime();
    if (rank == 0)
        printf("regions iterations=%d ranks=%d sum=%.9e time=%.6f ok\n", iterations, size, sum, end - start);
    MPI_Finalize();
    return 0;
}
