/* MPI_Pack writes what is sent, MPI_Unpack reads what has come: the send stays behind the one, the receive before the
 * other. The packed buffer is not written before the next MPI_Pack, so the send may end behind the work that follows. */
#include "idioms.h"

//= may @send after @tail
//= not @send before @ahead
//= not @recv after @behind
static double x[N], y[N];
static char box[8 * N + 100], got[8 * N + 100];

int main(int argc, char **argv) {
    start(&argc, &argv);
    double s = 0;
    for (int k = 0; k < 20; k++) {
        int position = 0;
        if (me == 0) {
            for (int i = 0; i < N; i++) x[i] = k + i;
            work(6); // @ahead
            MPI_Pack(x, N, MPI_DOUBLE, box, sizeof box, &position, W);
            MPI_Send(box, position, MPI_PACKED, 1, 0, W); // @send
            work(2); // @tail
        } else {
            MPI_Recv(got, sizeof got, MPI_PACKED, 0, 0, W, ONE); // @recv
            MPI_Unpack(got, sizeof got, &position, y, N, MPI_DOUBLE, W);
            work(6); // @behind
            s += y[3];
        }
    }
    return stop(s);
}
