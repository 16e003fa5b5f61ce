/* Blocks of known work: every rank does the same fixed work again and again and talks a little in between.
 *
 *     blocks [UNITS [TIMES]]     UNITS of work (default 100) in a block, TIMES blocks (default 50)
 *
 * The program times its own blocks with the processor time of the thread, so that what a recorder says of them can be
 * held against it: run alone, a block takes what it takes; a recording of many ranks on few cores should say the same.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LENGTH = 1024 };

static double field[LENGTH];

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

/* Relaxes a short vector: the same operations every time, 8 KB of memory. */
static void work(int units) {
    for (int unit = 0; unit < units; unit++) {
        for (int i = 1; i < LENGTH - 1; i++) field[i] = 0.25 * field[i - 1] + 0.5 * field[i] + 0.25 * field[i + 1];
        field[0] = field[LENGTH - 1] = 1;
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    double started = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int units = argc > 1 ? atoi(argv[1]) : 100, times = argc > 2 ? atoi(argv[2]) : 50;
    if (times < 1) times = 1;
    double *spent = malloc(times * sizeof *spent), token = rank, mean = 0, all, sum = 0;
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;

    MPI_Barrier(MPI_COMM_WORLD);
    double begun = MPI_Wtime();
    for (int time = 0; time < times; time++) {
        double before = seconds();
        work(units);
        spent[time] = seconds() - before;
        mean += spent[time] / times;
        MPI_Sendrecv_replace(&token, 1, MPI_DOUBLE, right, 1, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    double took = MPI_Wtime() - begun;
    qsort(spent, times, sizeof *spent, ascending);
    MPI_Reduce(&mean, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int i = 0; i < LENGTH; i++) sum += field[i];
    /* What came around is what was sent `times` ranks to the left, and the field has not blown up. */
    int good = token == ((rank - times) % ranks + ranks) % ranks && sum > 0 && sum <= LENGTH;
    if (rank == 0)
        printf("blocks units=%d times=%d ranks=%d median=%.9f mean=%.9f time=%.6f total=%.6f %s\n", units, times, ranks,
               spent[times / 2], all / ranks, took, MPI_Wtime() - started, good ? "ok" : "FAILED");
    MPI_Finalize();
    return good ? 0 : 1;
}
