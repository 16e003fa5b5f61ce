/* Regions of an MPI program, for Hayase: which part of a run is to be told apart.
 *
 *     #include "hayase.h"
 *
 *     hayase_region_begin("solve");
 *     ...
 *     hayase_region_end("solve");
 *
 * Regions may be in each other, and the same one may begin and end any number of times. Nothing is linked for them: they are
 * MPI_Pcontrol(1, "solve") and MPI_Pcontrol(-1, "solve"), which every MPI has and which does nothing when nobody records. Before
 * MPI_Init and after MPI_Finalize, and in a program without MPI, they do nothing either. A name is a text of at most 255 bytes.
 *
 * Fortran has a module of its own: hayase.f90, with the same two names.
 */
#ifndef HAYASE_H
#define HAYASE_H

#ifdef __cplusplus
extern "C" {
#endif

/* A weak reference asks for nothing at link time, and leaves the declarations of mpi.h as they are. */
static int hayase_initialized_(int *) __attribute__((__weakref__("MPI_Initialized")));
static int hayase_finalized_(int *) __attribute__((__weakref__("MPI_Finalized")));
static int hayase_control_(const int, ...) __attribute__((__weakref__("MPI_Pcontrol")));

/* Where compilers make programs tell which memory they access, this is not the program's. */
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

/* Here the region of this name begins. */
static __inline__ __attribute__((__unused__)) void hayase_region_begin(const char *name)
{
    hayase_region_(1, name);
}

/* Here the region of this name ends. */
static __inline__ __attribute__((__unused__)) void hayase_region_end(const char *name)
{
    hayase_region_(-1, name);
}

#ifdef __cplusplus
}
#endif

#endif
