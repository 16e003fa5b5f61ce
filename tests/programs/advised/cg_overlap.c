/* Conjugate gradients as in ../cg.c, with the advice A001 followed by hand: the rows of the neighbours are under way while the rows
 * that do not need them are multiplied. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, n, rows; /* this rank's rows: 1 .. rows; rows 0 and rows + 1 belong to the neighbours */
static int above, below;

#define AT(v, i, j) (v)[(size_t)(i) * n + (j)]

static double dot(const double *a, const double *b) {
    double mine = 0, sum;
    for (size_t k = n; k < (size_t)(rows + 1) * n; k++) mine += a[k] * b[k];
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* Row i of result = A v */
static void laplacian_row(const double *v, double *result, int i) {
    for (int j = 0; j < n; j++) {
        double west = j > 0 ? AT(v, i, j - 1) : 0, east = j < n - 1 ? AT(v, i, j + 1) : 0;
        AT(result, i, j) = 4 * AT(v, i, j) - west - east - AT(v, i - 1, j) - AT(v, i + 1, j);
    }
}

/* result = A v */
static void laplacian(double *v, double *result) {
    MPI_Request request[4];
    MPI_Irecv(&AT(v, rows + 1, 0), n, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(&AT(v, 0, 0), n, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(&AT(v, 1, 0), n, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &request[2]);
    MPI_Isend(&AT(v, rows, 0), n, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, &request[3]);
    for (int i = 2; i < rows; i++) laplacian_row(v, result, i);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    if (rows > 0) laplacian_row(v, result, 1);
    if (rows > 1) laplacian_row(v, result, rows);
}

static double *vector(void) { return calloc((size_t)(rows + 2) * n, sizeof(double)); }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    double started = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    n = argc > 1 ? atoi(argv[1]) : 200;
    int most = argc > 2 ? atoi(argv[2]) : 200;
    int first = (int)((long)n * rank / ranks);
    rows = (int)((long)n * (rank + 1) / ranks) - first;
    if (n < ranks) {
        if (rank == 0) fprintf(stderr, "cg: every rank needs a row; take N >= %d\n", ranks);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

    /* The right-hand side of a solution that is known. */
    double *known = vector(), *side = vector(), *x = vector(), *r = vector(), *p = vector(), *q = vector();
    for (int i = 1; i <= rows; i++)
        for (int j = 0; j < n; j++) AT(known, i, j) = sin(3.0 * (first + i) / n) * cos(5.0 * j / n);
    laplacian(known, side);
    size_t begin = n, end = (size_t)(rows + 1) * n;
    for (size_t k = begin; k < end; k++) r[k] = p[k] = side[k];

    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    double scale = dot(side, side), rho = scale;
    int iterations = 0;
    while (iterations < most && rho > 1e-22 * scale) {
        laplacian(p, q);
        double alpha = rho / dot(p, q);
        for (size_t k = begin; k < end; k++) x[k] += alpha * p[k], r[k] -= alpha * q[k];
        double next = dot(r, r), beta = next / rho;
        for (size_t k = begin; k < end; k++) p[k] = r[k] + beta * p[k];
        rho = next;
        iterations++;
    }
    double solving = MPI_Wtime() - begun;

    /* The residual, worked out anew, must be the one that was carried along; the error must have become smaller. */
    laplacian(x, q);
    for (size_t k = begin; k < end; k++) q[k] = side[k] - q[k] - r[k], p[k] = known[k] - x[k];
    double drift = sqrt(dot(q, q) / scale), residual = sqrt(rho / scale), error = sqrt(dot(p, p) / dot(known, known));
    int good = drift < 1e-10 && (iterations == 0 || error < 1);
    if (rank == 0)
        printf("cg n=%d iterations=%d ranks=%d residual=%.2e drift=%.2e time=%.6f total=%.6f %s\n", n, iterations, ranks,
               residual, drift, solving, MPI_Wtime() - started, good ? "ok" : "FAILED");
    MPI_Finalize();
    return good ? 0 : 1;
}
