/* What a rank takes from the return of MPI_Init to the call of MPI_Finalize, by the clock and of its processor: preloaded before programs
 * in C and Fortran of any MPI, recorded or not. Writes "wall processor waited" [s] to a file of its own in the folder STOPWATCH; the last is
 * how long the rank could have run without having a core, where Linux says it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double begin[3];
static int running;

static void read_clocks(double at[3]) {
    struct timespec now;
    struct rusage used;
    unsigned long long ran, waited = 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    getrusage(RUSAGE_SELF, &used);
    FILE *file = fopen("/proc/self/schedstat", "r");
    if (file) {
        if (fscanf(file, "%llu %llu", &ran, &waited) != 2)
            waited = 0;
        fclose(file);
    }
    at[0] = now.tv_sec + 1e-9 * now.tv_nsec;
    at[1] = used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    at[2] = 1e-9 * waited;
}

static void start(void) {
    if (!running)
        read_clocks(begin);
    running = 1;
}

static void stop(void) {
    const char *folder = getenv("STOPWATCH");
    double end[3];
    char name[4096];
    if (!running || !folder)
        return;
    running = 0;
    read_clocks(end);
    snprintf(name, sizeof name, "%s/%d", folder, (int)getpid());
    FILE *file = fopen(name, "w");
    if (!file)
        return;
    fprintf(file, "%.9f %.6f %.9f\n", end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]);
    fclose(file);
}

/* The function behind this one: of a recorder, or of the library, which a program may have loaded for itself. */
static void *behind(const char *name) {
    static const char *libraries[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12"};
    void *found = dlsym(RTLD_NEXT, name);
    for (unsigned i = 0; !found && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, name) : 0;
    }
    if (!found) {
        fprintf(stderr, "stopwatch: there is no %s\n", name);
        abort();
    }
    return found;
}

int MPI_Init(int *argc, char ***argv) {
    int code = ((int (*)(int *, char ***))behind("MPI_Init"))(argc, argv);
    start();
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int code = ((int (*)(int *, char ***, int, int *))behind("MPI_Init_thread"))(argc, argv, required, provided);
    start();
    return code;
}

int MPI_Finalize(void) {
    stop();
    return ((int (*)(void))behind("MPI_Finalize"))();
}

void mpi_init_(int *code) {
    ((void (*)(int *))behind("mpi_init_"))(code);
    start();
}

void mpi_init_thread_(int *required, int *provided, int *code) {
    ((void (*)(int *, int *, int *))behind("mpi_init_thread_"))(required, provided, code);
    start();
}

void mpi_finalize_(int *code) {
    stop();
    ((void (*)(int *))behind("mpi_finalize_"))(code);
}
