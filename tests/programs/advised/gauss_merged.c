/* Gaussian elimination as in ../gauss.c, with the advice A002 followed by hand: the pivot, the row and its right-hand side go out as one
 * message to each rank. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks, n;
static double **row;      /* row[i]: row i of the matrix, NULL where another rank has it */
static double *right;     /* right[i]: its right-hand side */
static double *message;    /* the pivot, the right-hand side and the row, in one */
static int *column;       /* column[j]: the unknown that column j belongs to, after the exchanges */

/* The matrix: random to look at, the same on every rank and in every run. */
static double element(int i, int j) {
    unsigned x = 2654435761u * (unsigned)(i * n + j + 1);
    x ^= x >> 15, x *= 2246822519u, x ^= x >> 13;
    return x / 4294967296.0 - 0.5;
}

/* The right-hand side for which unknown j is 1 + j / n. */
static double known_side(int i) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += element(i, j) * (1 + (double)j / n);
    return sum;
}

static void set_up(void) {
    for (int j = 0; j < n; j++) column[j] = j;
    for (int i = rank; i < n; i += ranks) {
        for (int j = 0; j < n; j++) row[i][j] = element(i, j);
        right[i] = known_side(i);
    }
}

static void exchange_columns(int k, int pivot) {
    if (pivot == k) return;
    int unknown = column[k];
    column[k] = column[pivot], column[pivot] = unknown;
    for (int i = rank; i < n; i += ranks) {
        double kept = row[i][k];
        row[i][k] = row[i][pivot], row[i][pivot] = kept;
    }
}

static void eliminate(int k) {
    int owner = k % ranks, pivot = k, length = n - k;
    double side = 0, *from = NULL;
    if (rank == owner) {
        for (int j = k + 1; j < n; j++)
            if (fabs(row[k][j]) > fabs(row[k][pivot])) pivot = j;
        exchange_columns(k, pivot);
        for (int j = n - 1; j > k; j--) row[k][j] /= row[k][k];
        right[k] /= row[k][k];
        row[k][k] = 1;
        side = right[k], from = row[k] + k;
        message[0] = pivot, message[1] = side;
        for (int j = 0; j < length; j++) message[2 + j] = from[j];
        for (int other = 0; other < ranks; other++)
            if (other != rank) MPI_Send(message, length + 2, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(message, length + 2, MPI_DOUBLE, owner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pivot = message[0], side = message[1], from = message + 2;
        exchange_columns(k, pivot);
    }
    int first = k + 1 + (rank - (k + 1) % ranks + ranks) % ranks; /* this rank's first row below row k */
    for (int i = first; i < n; i += ranks) {
        double factor = row[i][k];
        for (int j = 0; j < length; j++) row[i][k + j] -= factor * from[j];
        right[i] -= factor * side;
    }
}

/* From the last unknown to the first; each is broadcast by the owner of its row. */
static void substitute(double *unknown) {
    for (int k = n - 1; k >= 0; k--) {
        double value = right[k];
        MPI_Bcast(&value, 1, MPI_DOUBLE, k % ranks, MPI_COMM_WORLD);
        unknown[column[k]] = value;
        for (int i = rank; i < k; i += ranks) right[i] -= row[i][k] * value;
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    double started = MPI_Wtime(), solving = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    n = argc > 1 ? atoi(argv[1]) : 256;
    int times = argc > 2 ? atoi(argv[2]) : 1;
    row = calloc(n, sizeof *row);
    for (int i = rank; i < n; i += ranks) row[i] = malloc(n * sizeof **row);
    right = calloc(n, sizeof *right), message = malloc((n + 2) * sizeof *message);
    column = malloc(n * sizeof *column);
    double *unknown = malloc(n * sizeof *unknown);

    for (int time = 0; time < times; time++) {
        set_up();
        MPI_Barrier(MPI_COMM_WORLD);
        double begun = MPI_Wtime();
        for (int k = 0; k < n; k++) eliminate(k);
        substitute(unknown);
        solving += MPI_Wtime() - begun;
    }

    double mine = 0, residual;
    for (int i = rank; i < n; i += ranks) {
        double sum = -known_side(i);
        for (int j = 0; j < n; j++) sum += element(i, j) * unknown[j];
        mine = fmax(mine, fabs(sum));
    }
    MPI_Allreduce(&mine, &residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    int good = residual < 1e-8;
    if (rank == 0)
        printf("gauss n=%d times=%d ranks=%d residual=%.2e time=%.6f total=%.6f %s\n", n, times, ranks, residual, solving,
               MPI_Wtime() - started, good ? "ok" : "FAILED");
    MPI_Finalize();
    return good ? 0 : 1;
}
