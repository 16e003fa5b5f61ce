! Floating-point errors trap from before MPI_Init on (compiled with -ffpe-trap=invalid,zero,overflow), while an average is computed
! repeatedly. Then traps are switched off, an error is made, and all flags are printed.
program traps
   use, intrinsic :: ieee_exceptions
   use mpi
   implicit none
   integer :: error, rank, ranks, i
   double precision :: x, y
   logical :: flags(3), halting(3)
   call MPI_Init(error)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
   x = rank
   do i = 1, 1000
      call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
      x = y / ranks
   end do
   call ieee_get_flag(ieee_usual, flags)
   call ieee_get_halting_mode(ieee_usual, halting)
   print '(a,i0,a,f8.5,a,3l2,a,3l2)', 'rank ', rank, ': ', x, ' flags', flags, ' halting', halting
   call ieee_set_halting_mode(ieee_usual, .false.)
   call MPI_Barrier(MPI_COMM_WORLD, error)
   x = x * 0 - 1
   y = sqrt(x)
   call MPI_Allreduce(y, x, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
   call ieee_get_flag(ieee_usual, flags)
   print '(a,i0,a,3l2)', 'rank ', rank, ': then', flags
   ! Otherwise it traps at the end, where the compiler restores the traps.
   call ieee_set_flag(ieee_usual, .false.)
   call MPI_Finalize(error)
end program
