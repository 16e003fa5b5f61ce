/* Gaussian elimination: rows dealt out in turn, the pivot row sent around a ring, the unknowns found from the last up. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, n;
static double *a, *b, *x, *pivot;

static double *row_of(int i) {
    return a + (size_t)(i / ranks) * n;
}

static void set_up(void) {
    int mine = (n + ranks - 1 - rank) / ranks;
    a = malloc(sizeof *a * mine * n);
    b = malloc(sizeof *b * mine);
    x = malloc(sizeof *x * n);
    pivot = malloc(sizeof *pivot * (n + 1));
    for (int k = 0; k < mine; k++) {
        for (int j = 0; j < n; j++)
            a[(size_t)k * n + j] = 1.0 / (1 + abs(k * ranks + rank - j));
        a[(size_t)k * n + k * ranks + rank] += n;
        b[k] = k + 1.0;
    }
}

/* Everybody hands the pivot row on to the next rank, but the last. */
static void pass_on(int step, int bytes) {
    int next = (rank + 1) % ranks, owner = step % ranks;
    if (next != owner)
        MPI_Send(pivot, bytes, MPI_BYTE, next, step, MPI_COMM_WORLD);
}

static void eliminate(int step) {
    int owner = step % ranks, length = n - step + 1;
    if (rank == owner) {
        memcpy(pivot, row_of(step) + step, sizeof *pivot * (length - 1));
        pivot[length - 1] = b[step / ranks];
    } else {
        MPI_Recv(pivot, length, MPI_DOUBLE, (rank + ranks - 1) % ranks, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    pass_on(step, length * (int)sizeof *pivot);
    for (int i = step + 1; i < n; i++) {
        if (i % ranks != rank)
            continue;
        double *r = row_of(i), f = r[step] / pivot[0];
        for (int j = 0; j < length - 1; j++)
            r[step + j] -= f * pivot[j];
        b[i / ranks] -= f * pivot[length - 1];
    }
}

/* The largest remaining element, and where it is: two reductions a step. */
static void search(int step, double *most, int *where) {
    struct { double value; int at; } mine = {0, rank}, best;
    for (int i = step; i < n; i++)
        if (i % ranks == rank && mine.value < row_of(i)[step])
            mine.value = row_of(i)[step];
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    MPI_Allreduce(&best.at, where, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    *most = best.value;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    n = argc > 1 ? atoi(argv[1]) : 1280;
    set_up();
    double most;
    int where;
    for (int step = 0; step < n - 1; step++) {
        search(step, &most, &where);
        eliminate(step);
    }
    for (int i = n - 1; i >= 0; i--) {
        if (i % ranks == rank)
            x[i] = b[i / ranks] / row_of(i)[i];
        MPI_Bcast(&x[i], 1, MPI_DOUBLE, i % ranks, MPI_COMM_WORLD);
        for (int k = 0; k * ranks + rank < i; k++)
            b[k] -= a[(size_t)k * n + i] * x[i];
    }
    if (rank == 0)
        printf("x[0] = %.6f, largest %.3f at %d\n", x[0], most, where);
    MPI_Finalize();
}
