/* Rank 0 puts data into the memory of rank 1, which calls nothing but a barrier. What rank 1 sends then was put there:
 * the send must stay behind the barrier. */
#include "idioms.h"

//= not @send before @work
int main(int argc, char **argv) {
    start(&argc, &argv);
    double *memory, s = 0;
    MPI_Win window;
    static double source[N];
    MPI_Win_allocate(N * sizeof(double), sizeof(double), MPI_INFO_NULL, W, &memory, &window);
    for (int i = 0; i < N; i++) memory[i] = me;
    MPI_Barrier(W);
    for (int k = 0; k < 20; k++) {
        if (me == 0) {
            for (int i = 0; i < N; i++) source[i] = k;
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
            MPI_Put(source, N, MPI_DOUBLE, 1, 0, N, MPI_DOUBLE, window);
            MPI_Win_unlock(1, window);
        } else if (me == 1) {
            work(6); // @work
        }
        MPI_Barrier(W);
        if (me == 1) {
            work(6);
            MPI_Send(memory, N, MPI_DOUBLE, 2, 0, W); // @send
        } else if (me == 2) {
            MPI_Recv(source, N, MPI_DOUBLE, 1, 0, W, ONE);
            s += source[3];
            work(2);
        }
        MPI_Barrier(W);
    }
    MPI_Win_free(&window);
    return stop(s);
}
