// A solver to try the commands of docs/guide with: conjugate gradients for a chain of points, divided among the ranks.
//
//     mpicc -O2 -g solver.c -o solver
//     mpirun -np 4 ./solver [FILE]      FILE holds the number of points and of iterations
//
// Each iteration exchanges the ends of a rank's part with its neighbours and adds up two sums over all ranks.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

// result = A * x, where A has 2 on its diagonal and -1 beside it; x[0] and x[n + 1] belong to the neighbours.
static void multiply(int n, double *x, double *result) {
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&x[1], 1, MPI_DOUBLE, left, 0, &x[n + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&x[n], 1, MPI_DOUBLE, right, 1, &x[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 1; i <= n; i++) result[i] = 2.0 * x[i] - x[i - 1] - x[i + 1];
}

static double dot(int n, const double *x, const double *y) {
    double own = 0.0, all;
    for (int i = 1; i <= n; i++) own += x[i] * y[i];
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int count, char **words) {
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int settings[2] = {20000, 50};
    if (rank == 0 && count > 1) {
        FILE *file = fopen(words[1], "r");
        if (!file || fscanf(file, "%d %d", &settings[0], &settings[1]) != 2) MPI_Abort(MPI_COMM_WORLD, 1);
        fclose(file);
    }
    MPI_Bcast(settings, 2, MPI_INT, 0, MPI_COMM_WORLD);
    int n = settings[0] / ranks + (rank < settings[0] % ranks);
    double *x = calloc(n + 2, sizeof *x), *r = calloc(n + 2, sizeof *r);
    double *p = calloc(n + 2, sizeof *p), *q = calloc(n + 2, sizeof *q);
    for (int i = 1; i <= n; i++) p[i] = r[i] = 1.0;
    MPI_Pcontrol(1, "solve"); // from here on it is the region "solve"
    double rho = dot(n, r, r), first = rho;
    for (int step = 0; step < settings[1]; step++) {
        multiply(n, p, q);
        double alpha = rho / dot(n, p, q);
        for (int i = 1; i <= n; i++) x[i] += alpha * p[i];
        for (int i = 1; i <= n; i++) r[i] -= alpha * q[i];
        double next = dot(n, r, r);
        for (int i = 1; i <= n; i++) p[i] = r[i] + next / rho * p[i];
        rho = next;
    }
    MPI_Pcontrol(-1, "solve");
    if (rank == 0) printf("residual %g of %g\n", rho, first);
    free(x), free(r), free(p), free(q);
    MPI_Finalize();
}
