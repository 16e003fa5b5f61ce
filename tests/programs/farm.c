/* A farm of workers: rank 0 deals out the rows of a picture of the Mandelbrot set, the others work them out.
 *
 *     farm [N [ITERATIONS]]      N x N points (default 200), at most ITERATIONS (default 1000) a point
 *
 * Tasks differ in time by orders of magnitude, so a worker gets its next row when it returns one: the master receives from
 * MPI_ANY_SOURCE, and which worker does which row differs from run to run. Alone, rank 0 does all rows itself.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORK = 1, RESULT = 2, STOP = 3 };

static int n, limit;

/* counts[j]: iterations until point (i, j) leaves the circle of radius 2. */
static void work_out(int i, int *counts) {
    double y = n > 1 ? -1.25 + 2.5 * i / (n - 1) : 0;
    for (int j = 0; j < n; j++) {
        double x = n > 1 ? -2 + 2.5 * j / (n - 1) : 0, re = 0, im = 0;
        int count = 0;
        while (count < limit && re * re + im * im <= 4) {
            double next = re * re - im * im + x;
            im = 2 * re * im + y, re = next;
            count++;
        }
        counts[j] = count;
    }
}

/* A result is the row's number, then its counts. */
static void work(void) {
    int *result = malloc((n + 1) * sizeof *result);
    for (;;) {
        MPI_Status status;
        MPI_Recv(&result[0], 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP) break;
        work_out(result[0], result + 1);
        MPI_Send(result, n + 1, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
    free(result);
}

static void deal(int workers, int *picture, int *times_done) {
    int *result = malloc((n + 1) * sizeof *result), next = 0, under_way = 0;
    for (int worker = 1; worker <= workers && next < n; worker++, next++, under_way++)
        MPI_Send(&next, 1, MPI_INT, worker, WORK, MPI_COMM_WORLD);
    while (under_way > 0) {
        MPI_Status status;
        MPI_Recv(result, n + 1, MPI_INT, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
        under_way--;
        if (next < n) {
            MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, WORK, MPI_COMM_WORLD);
            next++, under_way++;
        }
        times_done[result[0]]++;
        for (int j = 0; j < n; j++) picture[(size_t)result[0] * n + j] = result[j + 1];
    }
    for (int worker = 1; worker <= workers; worker++) MPI_Send(NULL, 0, MPI_INT, worker, STOP, MPI_COMM_WORLD);
    free(result);
}

/* Every row was done once, the picture is its own mirror image but for rounding, and rows worked out again are the same. */
static long mistakes(const int *picture, const int *times_done) {
    long wrong = 0, unlike = 0;
    int *again = malloc(n * sizeof *again);
    for (int i = 0; i < n; i++) {
        wrong += times_done[i] != 1;
        for (int j = 0; j < n; j++) unlike += picture[(size_t)i * n + j] != picture[(size_t)(n - 1 - i) * n + j];
    }
    for (int i = 0; i < n; i += n / 5 + 1) {
        work_out(i, again);
        for (int j = 0; j < n; j++) wrong += picture[(size_t)i * n + j] != again[j];
    }
    free(again);
    return wrong + (unlike * 20 > (long)n * n ? unlike : 0);
}

int main(int argc, char **argv) {
    int rank, ranks, good = 1;
    MPI_Init(&argc, &argv);
    double started = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    n = argc > 1 ? atoi(argv[1]) : 200;
    limit = argc > 2 ? atoi(argv[2]) : 1000;

    if (rank > 0) {
        work();
    } else {
        int *picture = calloc((size_t)n * n, sizeof *picture), *times_done = calloc(n, sizeof *times_done);
        double begun = MPI_Wtime();
        if (ranks > 1)
            deal(ranks - 1, picture, times_done);
        else
            for (int i = 0; i < n; i++) work_out(i, picture + (size_t)i * n), times_done[i]++;
        double working = MPI_Wtime() - begun;
        long wrong = mistakes(picture, times_done);
        good = wrong == 0;
        printf("farm n=%d iterations=%d ranks=%d mistakes=%ld time=%.6f total=%.6f %s\n", n, limit, ranks, wrong, working,
               MPI_Wtime() - started, good ? "ok" : "FAILED");
    }
    MPI_Finalize();
    return good ? 0 : 1;
}
