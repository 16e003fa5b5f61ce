/* One buffer in each iteration. The send may be under way until it is filled again, the receive be posted before the
 * work in front of it. */
#include "idioms.h"

//= may @send after @work
//= may @recv before @ahead
//= not @send before @work
//= not @recv after @ahead
static double buf[8 * N];

int main(int argc, char **argv) {
    start(&argc, &argv);
    double s = 0;
    for (int k = 0; k < 20; k++) {
        if (me == 0) {
            for (int i = 0; i < 8 * N; i++) buf[i] = s + i + k;
            MPI_Send(buf, 8 * N, MPI_DOUBLE, 1, 0, W); // @send
            work(10); // @work
        } else {
            work(10); // @ahead
            MPI_Recv(buf, 8 * N, MPI_DOUBLE, 0, 0, W, ONE); // @recv
            for (int i = 0; i < 8 * N; i++) s += buf[i];
        }
    }
    return stop(s);
}
