/* Regions of an MPI program, for Hayase: named parts of a run that its reports list separately.
 *
 *     #include "hayase.h"
 *
 *     hayase_region_begin("solve");
 *     ...
 *     hayase_region_end("solve");
 *
 * Regions may be nested, and a region may begin and end any number of times. They need no library: the calls are
 * MPI_Pcontrol(1, "solve") and MPI_Pcontrol(-1, "solve"), which every MPI has and which do nothing without a recorder. They also
 * do nothing before MPI_Init, after MPI_Finalize, and in a program without MPI. A name has at most 255 bytes.
 *
 * Fortran has a module of its own: hayase.f90, with the same two names.
 */
#ifndef HAYASE_H
#define HAYASE_H

#ifdef __cplusplus
extern "C" {
#endif

/* A weak reference needs nothing at link time, and does not conflict with the declarations of mpi.h. */
static int hayase_initialized_(int *) __attribute__((__weakref__("MPI_Initialized")));
static int hayase_finalized_(int *) __attribute__((__weakref__("MPI_Finalized")));
static int hayase_control_(const int, ...) __attribute__((__weakref__("MPI_Pcontrol")));

/* Not instrumented: accesses in here are not the program's. */
static __inline__ __attribute__((__unused__, __no_sanitize_thread__)) void hayase_region_(int level, const char *name)
{
    int begun = 0, ended = 0;
    if (!hayase_initialized_ || !hayase_finalized_ || !hayase_control_)
        return;
    hayase_initialized_(&begun);
    hayase_finalized_(&ended);
    if (begun && !ended)
        hayase_control_(level, name);
}

/* Begins the region of this name. */
static __inline__ __attribute__((__unused__)) void hayase_region_begin(const char *name)
{
    hayase_region_(1, name);
}

/* Ends the region of this name. */
static __inline__ __attribute__((__unused__)) void hayase_region_end(const char *name)
{
    hayase_region_(-1, name);
}

#ifdef __cplusplus
}
#endif

#endif
