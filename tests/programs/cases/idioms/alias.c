/* The buffer is changed through another pointer right behind the send, and read through another pointer right behind
 * the receive. The receive may be posted before the work in front of it: nothing uses its buffer there. */
#include "idioms.h"

//= may @recv before @before
//= not @send after @later
//= not @send before @later
//= not @recv after @behind
static double buf[N], out;
static double *volatile other = buf;

int main(int argc, char **argv) {
    start(&argc, &argv);
    for (int k = 0; k < 20; k++) {
        if (me == 0) {
            for (int i = 0; i < N; i++) buf[i] = k + i;
            MPI_Send(buf, N, MPI_DOUBLE, 1, 0, W); // @send
            double *p = other;
            p[5] = -1;
            work(8); // @later
        } else {
            work(4); // @before
            MPI_Recv(buf, N, MPI_DOUBLE, 0, 0, W, ONE); // @recv
            double *p = other;
            out += p[3];
            work(8); // @behind
        }
    }
    return stop(out);
}
