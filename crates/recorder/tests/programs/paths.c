/* One function calls MPI and is called in many ways. For each call it prints the return addresses up to `main`, each known to
   its function. The recorder must find the same ones. */
#include <alloca.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static void *trail[64];
static int deep;
static volatile int sink;

#define ENTER trail[deep++] = __builtin_return_address(0)
#define LEAVE deep--
#define FUNCTION __attribute__((noinline, noclone)) static

FUNCTION void wrapper(int tag) {
    ENTER;
    int x = tag;
    MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD);
    printf("%d", tag);
    for (int i = deep; i-- > 0;) printf(" %p", trail[i]);
    printf("\n");
    LEAVE;
    sink = x;
}

FUNCTION void first(int tag) {
    ENTER;
    wrapper(tag);
    LEAVE;
    sink = 1;
}

FUNCTION void second(int tag) {
    ENTER;
    wrapper(tag);
    wrapper(tag);
    LEAVE;
    sink = 2;
}

/* The frame has no fixed size: only the frame pointer tells its begin. */
FUNCTION void grown(int tag, int size) {
    ENTER;
    char *room = alloca(size);
    memset(room, tag, size);
    first(tag);
    LEAVE;
    sink = room[size / 2];
}

/* The stack is realigned: the frame begins at an address in a word that the frame pointer leads to. */
FUNCTION void aligned(int tag, int size) {
    ENTER;
    __attribute__((aligned(64))) char room[256];
    char *more = alloca(size);
    memset(room, tag, sizeof room);
    memset(more, tag, size);
    first(tag);
    LEAVE;
    sink = room[tag & 255] + more[size / 2];
}

FUNCTION void again(int tag, int times) {
    ENTER;
    if (times > 0) again(tag, times - 1);
    else first(tag);
    LEAVE;
    sink = times;
}

FUNCTION void *thread(void *tag) {
    ENTER;
    first(*(int *)tag);
    LEAVE;
    sink = 3;
    return NULL;
}

static ucontext_t outside, inside;

/* On a stack that belongs to no thread. */
static void coroutine(void) { first(10); }

int main(int argc, char **argv) {
    int provided, tag = 9;
    /* Not unrolled: that would make more places. */
    volatile int rounds = 3;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    for (int round = 0; round < rounds; round++) {
        first(1);
        second(2);
        first(3);
        grown(4, 100 + 1000 * round);
        aligned(5, 70 + 3000 * round);
        again(6, 2);
        again(7, 20);
        wrapper(8);
    }
    getcontext(&inside);
    inside.uc_stack.ss_sp = malloc(1 << 18);
    inside.uc_stack.ss_size = 1 << 18;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    swapcontext(&outside, &inside);
    pthread_t other;
    pthread_create(&other, NULL, thread, &tag);
    pthread_join(other, NULL);
    MPI_Finalize();
    return 0;
}
