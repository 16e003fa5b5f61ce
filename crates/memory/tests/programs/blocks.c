/* Blocks of memory that begin and end, and hazards, each between two exchanges. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

void begin_(void);
void mark_(int *);
void end_(void);
void show_(const char *, void *);

static int number;
static double *many[3000];

static void next(void) { mark_(&number), number++; }
static void handler(int signal) { (void)signal; }
static void *thread(void *nothing) { return nothing; }
static void *map(int flags) { return mmap(0, 8192, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0); }

int main(void) {
    void *early = map(MAP_SHARED);
    double *old = malloc(800);
    show_("o", old);
    begin_();
    next();
    double *p = malloc(1000), *q = malloc(2000); /* interval 1 */
    p[0] = 1, q[0] = 2;
    free(q);
    show_("p", p);
    next();
    free(p); /* 2 */
    next();
    old = realloc(old, 90000); /* 3 */
    show_("r", old);
    next();
    void *private = map(MAP_PRIVATE); /* 4 */
    show_("m", private);
    next();
    munmap(private, 8192); /* 5 */
    next();
    for (int i = 0; i < 3000; i++) many[i] = calloc(8, 8); /* 6 */
    next();
    for (int i = 0; i < 3000; i++) free(many[i]); /* 7 */
    next();
    munmap(early, 8192); /* 8 */
    next();
    void *shared = map(MAP_SHARED); /* 9 */
    next();
    munmap(shared, 8192); /* 10 */
    signal(SIGUSR2, SIG_IGN);
    next();
    signal(SIGUSR1, handler); /* 11 */
    next();
    pthread_t other; /* 12 */
    pthread_create(&other, 0, thread, 0);
    pthread_join(other, 0);
    void *aligned = 0;
    if (posix_memalign(&aligned, 4096, 4096)) return 1;
    show_("a", aligned);
    next();
    end_();
    return 0;
}
