/* What the recorder of MPI calls does: begins, divides and ends a recording. Compiled without the instrumentation. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *find(const char *name) {
    void *function = dlsym(RTLD_DEFAULT, name);
    if (!function) {
        fprintf(stderr, "%s is not there\n", name);
        exit(3);
    }
    return function;
}

void begin_(void) { ((void (*)(const char *))find("hayase_memory_start"))(getenv("TEST_FILE")); }
void mark_(int *number) {
    /* From a site that is not known. */
    ((void (*)(unsigned long, unsigned long))find("hayase_memory_call"))(*number, 0);
    ((void (*)(unsigned long))find("hayase_memory_back"))(0);
}
/* A call that returns to this address, which no stub has seen. */
void at_(int *number, void *site) {
    ((void (*)(unsigned long, unsigned long))find("hayase_memory_call"))(*number, (unsigned long)site);
    ((void (*)(unsigned long))find("hayase_memory_back"))((unsigned long)site);
}
/* Functions of an object that is not instrumented: one that accesses what it is given, and one on numbers. */
void touch_(double *x) { x[1] = x[0]; }
double half_(double x) { return 0.5 * x; }

void end_(void) { ((void (*)(void))find("hayase_memory_stop"))(); }
void show_(const char *name, void *address) { printf("%.1s %lu\n", name, (unsigned long)address); }
void showk_(const char *name, void *address) { show_(name, address); }
