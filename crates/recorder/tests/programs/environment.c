/* Prints the floating-point environment after each MPI call: flags that the call raised, flags that were raised before,
   the rounding, and the errors that trap. An operator of the program divides by zero within MPI.

   environment flags | trap | early: `trap` turns traps on after MPI_Init, `early` before it. */
#define _GNU_SOURCE
#include <fenv.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static const int traps = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW;
static int rank, ranks, quiet;
static volatile double zero = 0, one = 1;

/* The flag of inexact results is left out: some MPIs raise it or not, depending on their progress. */
static int flags(void) { return fetestexcept(FE_ALL_EXCEPT) & ~FE_INEXACT; }

static void divide(void *in, void *inout, int *count, MPI_Datatype *type) {
    if (fegetround() != FE_UPWARD) printf("rank %d: the operator's rounding is %d\n", rank, fegetround());
    for (int i = 0; i < *count; i++) ((double *)inout)[i] += ((double *)in)[i];
    if (!quiet) zero = one / zero, zero = 0;
}

#define CALL(name, call)                                                                                              \
    do {                                                                                                              \
        feclearexcept(FE_ALL_EXCEPT);                                                                                 \
        call;                                                                                                         \
        int raised = flags();                                                                                         \
        feclearexcept(FE_ALL_EXCEPT);                                                                                 \
        if (!quiet) feraiseexcept(FE_OVERFLOW);                                                                       \
        call;                                                                                                         \
        printf("rank %d: %s raises %x, after overflow %x, rounding %x, traps %x\n", rank, name, raised, flags(),     \
               fegetround(), fegetexcept());                                                                          \
    } while (0)

int main(int argc, char **argv) {
    quiet = strcmp(argv[1], "flags") != 0;
    if (strcmp(argv[1], "early") == 0) feenableexcept(traps);
    feclearexcept(FE_ALL_EXCEPT);
    MPI_Init(&argc, &argv);
    int init = flags();
    if (strcmp(argv[1], "trap") == 0) feenableexcept(traps);
    fesetround(FE_UPWARD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    printf("rank %d: MPI_Init raises %x\n", rank, init);

    double in = rank, out = 0, many[64] = {0}, more[64] = {0};
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request requests[2];
    MPI_Op op;
    MPI_Comm comm;
    MPI_Op_create(divide, 1, &op);
    CALL("Sendrecv", MPI_Sendrecv(&in, 1, MPI_DOUBLE, right, 1, &out, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CALL("Irecv, Isend and Waitall", {
        MPI_Irecv(&out, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&in, 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    });
    CALL("Send and Recv", {
        if (rank % 2 == 0 && right != 0) MPI_Send(many, 64, MPI_DOUBLE, right, 3, MPI_COMM_WORLD);
        if (rank % 2 == 1) MPI_Recv(more, 64, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
    CALL("Barrier", MPI_Barrier(MPI_COMM_WORLD));
    CALL("Bcast", MPI_Bcast(many, 16, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    CALL("Allreduce", MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    CALL("Alltoall", MPI_Alltoall(many, 1, MPI_DOUBLE, more, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    CALL("Comm_dup and Comm_free", { MPI_Comm_dup(MPI_COMM_WORLD, &comm); MPI_Comm_free(&comm); });
    /* All ranks learn if the operator was called on any rank: MPI chooses the rank. */
    feclearexcept(FE_ALL_EXCEPT);
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
    int mine = flags(), all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
    printf("rank %d: an operator of the program raises %x\n", rank, all);
    /* Enough calls for the recorder to write and compress, and again with many sites of requests. */
    feclearexcept(FE_ALL_EXCEPT);
    for (int i = 0; i < 20000; i++) {
        MPI_Isend(&in, 1, MPI_DOUBLE, MPI_PROC_NULL, i * 7919 % 32000, MPI_COMM_WORLD, &requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    printf("rank %d: 20000 messages raise %x\n", rank, flags());
    feclearexcept(FE_ALL_EXCEPT);
    if (!quiet) feraiseexcept(FE_OVERFLOW);
    MPI_Finalize();
    printf("rank %d: MPI_Finalize leaves %x, rounding %x, traps %x\n", rank, flags(), fegetround(), fegetexcept());
    return 0;
}
