! Regions in Fortran, through all three interfaces of MPI: by the module, and by levels of MPI_Pcontrol.
program regions
#if defined(USE_F08)
  use mpi_f08
#elif defined(USE_MPI)
  use mpi
#endif
  use hayase
  implicit none
#if defined(MPIF_H)
  include 'mpif.h'
#endif
  integer :: rank, error, i
  character(len=20) :: name

  call hayase_region_begin("too early")
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  name = "solve"
  do i = 1, 3
    call hayase_region_begin(name)
    call MPI_Barrier(MPI_COMM_WORLD, error)
    call hayase_region_end("solve")
  end do
  call MPI_Pcontrol(1)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Pcontrol(0)
  call MPI_Pcontrol(3)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Pcontrol(-3)
  print '(a, i0)', "rank ", rank
  call MPI_Finalize(error)
  call hayase_region_end("too late")
end program
