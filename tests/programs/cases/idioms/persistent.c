/* Persistent requests. The send may be under way until its buffer is filled again, but not start before it is filled;
 * the receive must be complete before its buffer is read. */
#include "idioms.h"

//= may @start (send) after @tail
//= not @start (send) before @head
//= not @start (receive) after @tail
static double out[N], in[N];

int main(int argc, char **argv) {
    start(&argc, &argv);
    MPI_Request q[2];
    int to = 1 - me;
    double s = 0;
    MPI_Send_init(out, N, MPI_DOUBLE, to, 0, W, &q[0]);
    MPI_Recv_init(in, N, MPI_DOUBLE, to, 0, W, &q[1]);
    for (int k = 0; k < 20; k++) {
        work(3); // @head
        for (int i = 0; i < N; i++) out[i] = s + i;
        MPI_Startall(2, q); // @start
        work(3);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        s = 0;
        for (int i = 0; i < N; i++) s += in[i] * 1e-3;
        work(3); // @tail
    }
    MPI_Request_free(&q[0]);
    MPI_Request_free(&q[1]);
    return stop(s);
}
