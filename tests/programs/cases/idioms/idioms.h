/* Shared by the programs of this folder: common idioms of MPI, each with what may be advised and what must not be.
 *
 *     //= may @call before @line     a finding says that it can be posted before the line
 *     //= may @call after @line      a finding says that it can be complete behind the line
 *     //= not @call before @line     no proven finding says so
 *     //= not @call after @line
 *     //= one @call @call            a finding says that they can be one
 *     //= two @call @call            no proven finding says so
 *     //= none RULE @call            no finding of the rule is at the call
 *
 * `@call (send)` and `@call (receive)` are one part of a call. Answers follow from the semantics of MPI and of the
 * language, by the argument in the first comment. `work` uses memory of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define W MPI_COMM_WORLD
#define N 1000
#define ONE MPI_STATUS_IGNORE

static int me, np;
static double grind[4000];

/* A macro, so that its accesses are those of the line. */
#define work(times) \
    for (int k_ = 0; k_ < (times); k_++) \
        for (int i_ = 0; i_ < 4000; i_++) grind[i_] = grind[i_] * 0.999 + k_

static void start(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(W, &me);
    MPI_Comm_size(W, &np);
}

static int stop(double x) {
    MPI_Finalize();
    return x + grind[7] == 0.12345;
}
