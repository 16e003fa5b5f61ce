! Two-dimensional Fourier transform of N x N points by transposition, `use mpi_f08`.
!
!     fft [N [TIMES]]            N x N points, N a power of two (default 128); TIMES there and back (default 4)
!
! Each rank holds some columns. It transforms them, all ranks transpose the matrix (MPI_Alltoall), it transforms what
! were the rows; the inverse goes the same way back. Where the ranks do not divide N, the last columns are empty. The
! input is one wave, whose transform is a single point.
program fft
   use mpi_f08
   implicit none
   integer, parameter :: real64 = kind(1.0d0)
   real(real64), parameter :: pi = 3.14159265358979323846_real64
   integer :: rank, ranks, n, times, time, width, columns, i, j, wave(2)
   real(real64) :: started, begun, took, mine, error, square
   complex(real64), allocatable :: a(:, :), given(:, :), packed(:, :, :), arrived(:, :, :), root(:)
   complex(real64) :: peak

   call MPI_Init()
   started = MPI_Wtime()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks)
   n = argument(1, 128)
   times = argument(2, 4)
   if (iand(n, n - 1) /= 0 .or. n < 1) then
      if (rank == 0) write (*, '(a)') 'fft: N must be a power of two'
      call MPI_Abort(MPI_COMM_WORLD, 2)
   end if
   width = (n + ranks - 1)/ranks
   columns = max(0, min(width, n - rank*width))
   allocate (a(n, width), given(n, width), packed(width, width, ranks), arrived(width, width, ranks), root(0:max(n/2, 1) - 1))
   do i = 0, size(root) - 1
      root(i) = exp(cmplx(0, -2*pi*i/n, real64))
   end do
   wave = [n/3, n/5]
   given = 0
   do j = 1, columns
      do i = 1, n
         given(i, j) = exp(cmplx(0, 2*pi*mod(wave(1)*(i - 1) + wave(2)*(rank*width + j - 1), n)/n, real64))
      end do
   end do

   a = given
   call MPI_Barrier(MPI_COMM_WORLD)
   begun = MPI_Wtime()
   mine = 0
   do time = 1, times
      call forward
      ! After the transposition rows are columns: the point is in row wave(2), column wave(1).
      square = sum(abs(a(:, 1:columns))**2)
      j = wave(1) - rank*width + 1
      if (j >= 1 .and. j <= columns) then
         peak = a(wave(2) + 1, j)
         mine = max(mine, abs(peak - real(n, real64)**2)/real(n, real64)**2)
         square = square - abs(peak)**2
      end if
      mine = max(mine, sqrt(abs(square))/real(n, real64)**2)
      ! The inverse is the conjugate of the transform of the conjugate.
      a = conjg(a)
      call forward
      a = conjg(a)/real(n, real64)**2
   end do
   took = MPI_Wtime() - begun

   mine = max(mine, maxval(abs(a(:, 1:columns) - given(:, 1:columns))))
   call MPI_Allreduce(mine, error, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
   if (rank == 0) then
      write (*, '(a, i0, a, i0, a, i0, a, es8.2, 6a)') 'fft n=', n, ' times=', times, ' ranks=', ranks, &
         ' residual=', error, ' time=', seconds(took), &
         ' total=', seconds(MPI_Wtime() - started), trim(merge(' ok    ', ' FAILED', error < 1e-7_real64))
   end if
   call MPI_Finalize()
   if (.not. error < 1e-7_real64) stop 1

contains

   subroutine forward
      integer :: column

      do column = 1, columns
         call transform(a(:, column))
      end do
      call transpose_all
      do column = 1, columns
         call transform(a(:, column))
      end do
   end subroutine

   ! Cooley and Tukey, radix 2, in place.
   subroutine transform(x)
      complex(real64), intent(inout) :: x(0:)
      complex(real64) :: odd
      integer :: half, start, k, bit, other

      other = 0
      do k = 1, n - 1
         bit = n/2
         do while (iand(other, bit) /= 0)
            other = ieor(other, bit)
            bit = bit/2
         end do
         other = ior(other, bit)
         if (k < other) then
            odd = x(k)
            x(k) = x(other)
            x(other) = odd
         end if
      end do
      half = 1
      do while (half < n)
         do start = 0, n - 1, 2*half
            do k = 0, half - 1
               odd = root(k*(n/(2*half)))*x(start + k + half)
               x(start + k + half) = x(start + k) - odd
               x(start + k) = x(start + k) + odd
            end do
         end do
         half = 2*half
      end do
   end subroutine

   ! Block `to` of a rank's columns becomes, turned, block `from` of rank `to`.
   subroutine transpose_all
      integer :: other, low, high

      packed = 0
      do other = 1, ranks
         low = (other - 1)*width + 1
         high = min(other*width, n)
         if (high >= low) packed(:, 1:high - low + 1, other) = transpose(a(low:high, :))
      end do
      call MPI_Alltoall(packed, width*width, MPI_DOUBLE_COMPLEX, arrived, width*width, MPI_DOUBLE_COMPLEX, MPI_COMM_WORLD)
      do other = 1, ranks
         low = (other - 1)*width + 1
         high = min(other*width, n)
         if (high >= low) a(low:high, :) = arrived(1:high - low + 1, :, other)
      end do
   end subroutine

   ! To the microsecond, with the zero before the point.
   function seconds(time) result(text)
      real(real64), intent(in) :: time
      character(len=:), allocatable :: text
      character(len=20) :: wide

      write (wide, '(f20.6)') time
      text = trim(adjustl(wide))
   end function

   integer function argument(number, default)
      integer, intent(in) :: number, default
      character(len=32) :: text

      argument = default
      if (command_argument_count() >= number) then
         call get_command_argument(number, text)
         read (text, *) argument
      end if
   end function
end program
