/* The buffer is freed right behind the send, and another block of its size is taken: the send ends before that. */
#include "idioms.h"

//= not @send after @work
//= not @recv after @rest
int main(int argc, char **argv) {
    start(&argc, &argv);
    double s = 0;
    for (int k = 0; k < 20; k++) {
        double *b = malloc(N * sizeof *b);
        if (me == 0) {
            for (int i = 0; i < N; i++) b[i] = k;
            MPI_Send(b, N, MPI_DOUBLE, 1, 0, W); // @send
            free(b);
            work(8); // @work
        } else {
            work(4);
            MPI_Recv(b, N, MPI_DOUBLE, 0, 0, W, ONE); // @recv
            s += b[3];
            free(b);
            work(3); // @rest
        }
    }
    return stop(s);
}
