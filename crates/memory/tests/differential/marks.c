/* What the recorder of MPI calls does, and where things are. Compiled without the instrumentation. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long interval;

static void *find(const char *name) {
    void *function = dlsym(RTLD_DEFAULT, name);
    if (!function) exit(3);
    return function;
}

void begin(void) { ((void (*)(const char *))find("hayase_memory_start"))(getenv("TEST_FILE")); }

/* A call: what was accessed before it is an interval. */
void next(void) {
    static void (*call)(unsigned long, unsigned long);
    static void (*back)(unsigned long);
    if (!call) {
        *(void **)&call = find("hayase_memory_call");
        *(void **)&back = find("hayase_memory_back");
    }
    /* From a site that is not known. */
    call(interval++, 0);
    back(0);
}

void end(void) { ((void (*)(void))find("hayase_memory_stop"))(); }
void show(int object, const void *address) { printf("+ %d %lu %lu\n", object, (unsigned long)address, interval); }
void gone(int object) { printf("- %d 0 %lu\n", object, interval); }
