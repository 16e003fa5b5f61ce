/* The status of a receive from anyone says who is answered. The reply must stay behind the receive, and the receive be
 * complete before its status is read, though its data are read much later. The reply may end later: nothing changes it. */
#include "idioms.h"

//= may @ack after @work
//= not @ack before @work
//= not @recv after @work
static double in[N], ack[N];

int main(int argc, char **argv) {
    start(&argc, &argv);
    double s = 0;
    for (int k = 0; k < 20; k++) {
        if (me == 0) {
            for (int w = 1; w < np; w++) {
                MPI_Status st;
                int n;
                MPI_Recv(in, N, MPI_DOUBLE, MPI_ANY_SOURCE, 0, W, &st); // @recv
                MPI_Get_count(&st, MPI_DOUBLE, &n);
                MPI_Send(ack, N, MPI_DOUBLE, st.MPI_SOURCE, 1, W); // @ack
                work(6); // @work
                for (int i = 0; i < n; i++) s += in[i];
            }
        } else {
            for (int i = 0; i < N; i++) in[i] = me + k;
            MPI_Send(in, N, MPI_DOUBLE, 0, 0, W);
            MPI_Recv(ack, N, MPI_DOUBLE, 0, 1, W, ONE);
            s += ack[2];
            work(4 * me);
        }
    }
    return stop(s);
}
