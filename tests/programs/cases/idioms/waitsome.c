/* A farm with MPI_Waitsome. Indices say which buffer is read and who is answered: the receives must be complete where
 * MPI_Waitsome says so. */
#include "idioms.h"

//= not @first after @work
//= not @again after @work
//= not @reply before @work
static double in[3][N], reply[N];

int main(int argc, char **argv) {
    start(&argc, &argv);
    double s = 0;
    if (me == 0) {
        MPI_Request q[3];
        int left[3] = {15, 15, 15}, open = np - 1;
        for (int w = 0; w < np - 1; w++)
            MPI_Irecv(in[w], N, MPI_DOUBLE, w + 1, 0, W, &q[w]); // @first
        while (open) {
            int n, id[3];
            MPI_Waitsome(np - 1, q, &n, id, MPI_STATUSES_IGNORE);
            for (int j = 0; j < n; j++) {
                int w = id[j];
                work(1); // @work
                for (int i = 0; i < N; i++) reply[i] = in[w][i] * 0.5;
                MPI_Send(reply, N, MPI_DOUBLE, w + 1, 1, W); // @reply
                if (--left[w])
                    MPI_Irecv(in[w], N, MPI_DOUBLE, w + 1, 0, W, &q[w]); // @again
                else
                    open--;
            }
        }
    } else {
        for (int k = 0; k < 15; k++) {
            for (int i = 0; i < N; i++) reply[i] = me * k + s;
            work(3 + me);
            MPI_Send(reply, N, MPI_DOUBLE, 0, 0, W);
            MPI_Recv(in[0], N, MPI_DOUBLE, 0, 1, W, ONE);
            s += in[0][4];
        }
    }
    return stop(s);
}
