/* A structure of arrays for one neighbour. x and y could be one message; z takes what came back for x. */
#include "idioms.h"

//= one @x @y
//= two @x @z
//= two @y @z
static struct { double x[8], y[8], z[8]; } s, r;

int main(int argc, char **argv) {
    start(&argc, &argv);
    int to = 1 - me;
    for (int k = 0; k < 40; k++) {
        for (int i = 0; i < 8; i++) {
            s.x[i] = k + i;
            s.y[i] = k - i;
        }
        if (me == 0) {
            MPI_Send(s.x, 8, MPI_DOUBLE, to, 1, W); // @x
            MPI_Send(s.y, 8, MPI_DOUBLE, to, 2, W); // @y
            MPI_Recv(r.x, 8, MPI_DOUBLE, to, 3, W, ONE);
            for (int i = 0; i < 8; i++) s.z[i] = r.x[i] * 2;
            MPI_Send(s.z, 8, MPI_DOUBLE, to, 4, W); // @z
        } else {
            MPI_Recv(r.x, 8, MPI_DOUBLE, to, 1, W, ONE);
            MPI_Recv(r.y, 8, MPI_DOUBLE, to, 2, W, ONE);
            for (int i = 0; i < 8; i++) s.x[i] = r.x[i] + r.y[i];
            MPI_Send(s.x, 8, MPI_DOUBLE, to, 3, W);
            MPI_Recv(r.z, 8, MPI_DOUBLE, to, 4, W, ONE);
        }
        work(2);
    }
    return stop(r.z[0] + r.x[1]);
}
