/* Messages that could be under way during computation, and some that could not: the cases of Gordini's figure 5.
 *
 *     overlap                    2 ranks: rank 0 goes through the cases, rank 1 is at the other end
 *
 * Every line with a part in an answer has a name (`@send.fill`), and every answer is derived by hand from the rule of
 * the figure: what lies between the last access on which the message depends and the first that depends on the message
 * can run while it is under way. An answer is a line that begins with `//=`:
 *
 *     //= RULE @call: before LINES; after LINES; forbidden by KIND @line ITERATIONS ...
 *
 * A part of a loop is "501..1000 of 1000": iterations from 1, as they were executed between two calls. A call without
 * an answer is a near miss: nothing may be said of it.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000, HALF = 500 };

static double a[N], b[N], work[N];
static double m[4][40];

/* A send reads its buffer: what it sends must be written before (flow), and not be changed while it is under way (anti).
 * Half of `a` goes; the other half of the loops that fill and change it does not matter. */
//= A001 @send: before @send.fill 501..1000 of 1000, @send.work; after @send.more, @send.change 1..500 of 1000;
//=     flow @send.fill 1..500 of 1000, anti @send.change 501..1000 of 1000
static void blocking_send(void) {
    for (int i = 0; i < N; i++) a[i] = 0.5 * i; // @send.fill
    for (int i = 0; i < N; i++) work[i] += 3; // @send.work
    MPI_Send(a, HALF, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD); // @send
    for (int i = 0; i < N; i++) work[i] *= 2; // @send.more
    for (int i = 0; i < N; i++) a[N - 1 - i] += 1; // @send.change
}

/* A receive writes its buffer: what was read there must be read before (anti), and what is read later must come
 * later (flow). */
//= A001 @recv: before @recv.read 501..1000 of 1000, @recv.work; after @recv.more, @recv.use 1..500 of 1000;
//=     anti @recv.read 1..500 of 1000, flow @recv.use 501..1000 of 1000
static void blocking_receive(void) {
    for (int i = 0; i < N; i++) work[i] = b[i] + 1; // @recv.read
    for (int i = 0; i < N; i++) work[i] *= 2; // @recv.work
    MPI_Recv(b, HALF, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // @recv
    for (int i = 0; i < N; i++) work[i] += 1; // @recv.more
    for (int i = 0; i < N; i++) work[i] += b[N - 1 - i]; // @recv.use
}

/* What is written where a message is received, before or after, must stay there (output). */
//= A001 @out: before @out.fill 501..1000 of 1000; after @out.change 1..500 of 1000;
//=     output @out.fill 1..500 of 1000, output @out.change 501..1000 of 1000
static void output_dependence(void) {
    for (int i = 0; i < N; i++) b[i] = i + 0.25; // @out.fill
    MPI_Recv(b, HALF, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // @out
    for (int i = 0; i < N; i++) b[N - 1 - i] = i + 0.5; // @out.change
}

/* Communication that does not block: posted earlier, waited for later; what lies between is used already. */
//= A001 @isend, waited for @isend.wait: before @isend.work; after @isend.more; flow @isend.fill, anti @isend.change
static void nonblocking_send(void) {
    MPI_Request request;
    for (int i = 0; i < N; i++) a[i] = 0.25 * i; // @isend.fill
    for (int i = 0; i < N; i++) work[i] += 1; // @isend.work
    MPI_Isend(a, N, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, &request); // @isend
    for (int i = 0; i < N; i++) work[i] += 2;
    MPI_Wait(&request, MPI_STATUS_IGNORE); // @isend.wait
    for (int i = 0; i < N; i++) work[i] += 3; // @isend.more
    for (int i = 0; i < N; i++) a[i] = 0.125 * i; // @isend.change
}

//= A001 @irecv, waited for @irecv.wait: before @irecv.work; after @irecv.more; anti @irecv.read, flow @irecv.use
static void nonblocking_receive(void) {
    MPI_Request request;
    for (int i = 0; i < N; i++) work[i] = b[i]; // @irecv.read
    for (int i = 0; i < N; i++) work[i] += 1; // @irecv.work
    MPI_Irecv(b, N, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD, &request); // @irecv
    for (int i = 0; i < N; i++) work[i] += 2;
    MPI_Wait(&request, MPI_STATUS_IGNORE); // @irecv.wait
    for (int i = 0; i < N; i++) work[i] += 3; // @irecv.more
    for (int i = 0; i < N; i++) work[i] += b[i]; // @irecv.use
}

/* Both halves of a call that sends and receives, each for itself. */
//= A001 @both (send): before @both.work, @both.read; after @both.more, @both.use; flow @both.fill, anti @both.change
//= A001 @both (receive): after @both.more; anti @both.read, flow @both.use
static void send_and_receive(void) {
    for (int i = 0; i < HALF; i++) a[i] = 2.0 * i; // @both.fill
    for (int i = 0; i < N; i++) work[i] += 1; // @both.work
    for (int i = 0; i < HALF; i++) work[i] += b[i]; // @both.read
    MPI_Sendrecv(a, HALF, MPI_DOUBLE, 1, 6, b, HALF, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // @both
    for (int i = 0; i < N; i++) work[i] += 2; // @both.more
    for (int i = 0; i < HALF; i++) work[i] += b[i]; // @both.use
    for (int i = 0; i < HALF; i++) a[i] = 3.0 * i; // @both.change
}

/* A loop in a loop behind a send in a loop, as in the figure of the paper's tool: of the inner loop, ten iterations of
 * the first round of the middle one. */
//= A001 @nest: after @nest.inner 1..10 of 160; flow @nest.fill, anti @nest.inner 11..160 of 160; 3 times
static void nest_of_loops(void) {
    for (int k = 0; k < 3; k++) {
        m[0][10] = k; // @nest.fill
        MPI_Send(&m[0][10], 30, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD); // @nest
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 40; j++)
                m[i][j] += 1; // @nest.inner
    }
}

/* Beside the buffer is not in it, to the byte; and what is sent may be read. */
//= A001 @edge: before @edge.beside; after @edge.read, @edge.next; flow @edge.fill, anti @edge.last
static void edges_of_a_buffer(void) {
    for (int i = 0; i < HALF; i++) a[i] = 4.0 * i; // @edge.fill
    for (int i = 0; i < HALF; i++) a[HALF + i] = 5.0 * i; // @edge.beside
    MPI_Send(a, HALF, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD); // @edge
    for (int i = 0; i < HALF; i++) work[i] = a[i]; // @edge.read
    ((char *)&a[HALF])[0] = 1; // @edge.next
    ((char *)&a[HALF])[-1] = 1; // @edge.last
}

/* Copies count as what they read and write. */
//= A001 @copy: before @copy.work; after @copy.out; flow @copy.in, anti @copy.over
static void copies(void) {
    memcpy(a, work, sizeof a); // @copy.in
    for (int i = 0; i < N; i++) work[i] += 1; // @copy.work
    MPI_Send(a, N, MPI_DOUBLE, 1, 9, MPI_COMM_WORLD); // @copy
    memcpy(work, a, sizeof a); // @copy.out
    memset(a, 1, sizeof a); // @copy.over
}

/* Messages with one envelope do not overtake each other: the second is not posted before the first. */
//= A001 @order.first: after @order.work, @order.more; flow @order.fill, anti @order.change
//= A001 @order.second: before @order.work; after @order.more; order @order.first, anti @order.change
static void order_of_messages(void) {
    for (int i = 0; i < HALF; i++) a[HALF - 1 - i] = 6.0 * i; // @order.fill
    MPI_Send(a, HALF, MPI_DOUBLE, 1, 10, MPI_COMM_WORLD); // @order.first
    for (int i = 0; i < N; i++) work[i] += 4; // @order.work
    MPI_Send(a, HALF, MPI_DOUBLE, 1, 10, MPI_COMM_WORLD); // @order.second
    for (int i = 0; i < N; i++) work[i] += 5; // @order.more
    for (int i = 0; i < HALF; i++) a[i] = 7.0 * i; // @order.change
}

/* A column of a matrix. What lies between its elements is not told from them: the interval from the first to the last is
 * assumed, which forbids too much here, and said. What lies behind it is free. */
//= A001 @gaps: before @gaps.work; after @gaps.beside; flow @gaps.fill, anti @gaps.between; gaps
static void column_of_a_matrix(void) {
    MPI_Datatype made, column;
    MPI_Type_vector(4, 1, 40, MPI_DOUBLE, &made);
    MPI_Type_commit(&made);
    column = made; // What a library has the address of is read from memory; this is not.
    for (int i = 0; i < 4; i++) m[i][7] = i; // @gaps.fill
    for (int i = 0; i < N; i++) work[i] += 10; // @gaps.work
    MPI_Send(&m[0][7], 1, column, 1, 16, MPI_COMM_WORLD); // @gaps
    for (int i = 0; i < 10; i++) m[3][8 + i] += 1; // @gaps.beside
    for (int i = 0; i < 10; i++) m[2][8 + i] += 1; // @gaps.between
    m[3][7] = 0;
    MPI_Type_free(&made);
}

static int by_value(const void *x, const void *y) {
    double l = *(const double *)x, r = *(const double *)y;
    return (l > r) - (l < r);
}

/* What a function of a library does is not known: nothing passes it. */
//= A001 @opaque: before @opaque.work; after @opaque.more; flow @opaque.fill, opaque @opaque.sort
static void unknown_function(void) {
    for (int i = 0; i < N; i++) a[i] = 8.0 * i; // @opaque.fill
    for (int i = 0; i < N; i++) work[i] += 6; // @opaque.work
    MPI_Send(a, N, MPI_DOUBLE, 1, 11, MPI_COMM_WORLD); // @opaque
    for (int i = 0; i < N; i++) work[i] += 7; // @opaque.more
    qsort(work, N, sizeof *work, by_value); // @opaque.sort
    for (int i = 0; i < N; i++) a[i] = 9.0 * i;
}

/* A branch that is taken in some rounds only: said, since in others its other side counts. */
//= A001 @branch: after @branch.work, @branch.some (2 of 4); flow @branch.fill, anti @branch.change; 4 times
static void branch(void) {
    for (int k = 0; k < 4; k++) {
        a[0] = k; // @branch.fill
        MPI_Send(a, HALF, MPI_DOUBLE, 1, 12, MPI_COMM_WORLD); // @branch
        for (int i = 0; i < N; i++) work[i] += 8; // @branch.work
        if (k % 2)
            for (int i = 0; i < N; i++) work[i] += 9; // @branch.some
        a[0] = 0.5; // @branch.change
    }
}

/* Near misses: a buffer that is filled just before and changed just after; used just before and just after; of a
 * request, posted and waited for as early and late as can be. No line has a name, since none has an answer. */
static void near_misses(void) {
    MPI_Request request;
    for (int i = 0; i < N; i++) work[i] += 1;
    a[HALF - 1] = 1;
    MPI_Send(a, HALF, MPI_DOUBLE, 1, 13, MPI_COMM_WORLD);
    a[0] = 2;
    for (int i = 0; i < N; i++) work[i] += 1;
    work[0] += b[HALF - 1];
    MPI_Recv(b, HALF, MPI_DOUBLE, 1, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work[0] += b[0];
    for (int i = 0; i < N; i++) work[i] += 1;
    a[0] = 3;
    MPI_Isend(a, HALF, MPI_DOUBLE, 1, 15, MPI_COMM_WORLD, &request);
    for (int i = 0; i < N; i++) work[i] += 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    a[0] = 4;
}

/* The other end: its buffers are used just before and just after each call. */
static void other_end(void) {
    static const struct { int tag, receives, sends; } turns[] = {
        {1, HALF, 0}, {2, 0, HALF}, {3, 0, HALF}, {4, N, 0}, {5, 0, N}, {6, HALF, HALF}, {7, 30, 0}, {7, 30, 0}, {7, 30, 0},
        {8, HALF, 0}, {9, N, 0}, {10, HALF, 0}, {10, HALF, 0}, {16, 4, 0}, {11, N, 0}, {12, HALF, 0}, {12, HALF, 0}, {12, HALF, 0},
        {12, HALF, 0}, {13, HALF, 0}, {14, 0, HALF}, {15, HALF, 0},
    };
    static double sent[N], got[N];
    MPI_Status status;
    for (unsigned t = 0; t < sizeof turns / sizeof *turns; t++) {
        int tag = turns[t].tag, r = turns[t].receives, s = turns[t].sends;
        sent[0] = got[0] = 1;
        if (r && s) MPI_Sendrecv(sent, s, MPI_DOUBLE, 0, tag, got, r, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, &status);
        else if (r) MPI_Recv(got, r, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, &status);
        else MPI_Send(sent, s, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD);
        sent[0] = got[0] = 2;
    }
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        blocking_send();
        blocking_receive();
        output_dependence();
        nonblocking_send();
        nonblocking_receive();
        send_and_receive();
        nest_of_loops();
        edges_of_a_buffer();
        copies();
        order_of_messages();
        column_of_a_matrix();
        unknown_function();
        branch();
        near_misses();
        printf("overlap: %g %g %g\n", a[0], work[0], m[3][39]);
    } else if (rank == 1)
        other_end();
    MPI_Finalize();
    return 0;
}
