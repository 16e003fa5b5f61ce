/* Cost of a recorded call: sends to MPI_PROC_NULL, below nested functions. Prints the processor time a call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

static __attribute__((noinline)) int sends(int n, int callers) {
    volatile int sent = 0;
    if (callers > 0) return sends(n, callers - 1) + sent;
    int x = 0;
    for (int i = 0; i < n; i++) MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    return sent;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int n = argc > 1 ? atoi(argv[1]) : 1000000, callers = argc > 2 ? atoi(argv[2]) : 0;
    double best = 1e30;
    for (int round = 0; round < 5; round++) {
        double begin = cpu();
        sends(n, callers);
        double time = (cpu() - begin) / n;
        if (time < best) best = time;
    }
    printf("%.1f ns a call\n", best);
    MPI_Finalize();
    return 0;
}
