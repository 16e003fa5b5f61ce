! Regions of an MPI program, for Hayase: named parts of a run that its reports list separately.
!
!     use hayase
!
!     call hayase_region_begin("solve")
!     ...
!     call hayase_region_end("solve")
!
! Regions may be nested, and a region may begin and end any number of times. Compile this file with the program, before the
! files that use it. It needs only the MPI library: the calls are MPI_Pcontrol(1, "solve") and MPI_Pcontrol(-1, "solve") of C,
! which do nothing without a recorder. They also do nothing before MPI_Init and after MPI_Finalize.
module hayase
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
  implicit none
  private
  public :: hayase_region_begin, hayase_region_end

  interface
    function initialized(flag) bind(c, name="MPI_Initialized") result(error)
      import :: c_int
      integer(c_int), intent(out) :: flag
      integer(c_int) :: error
    end function
    function finalized(flag) bind(c, name="MPI_Finalized") result(error)
      import :: c_int
      integer(c_int), intent(out) :: flag
      integer(c_int) :: error
    end function
    function control(level, name) bind(c, name="MPI_Pcontrol") result(error)
      import :: c_char, c_int
      integer(c_int), value :: level
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: error
    end function
  end interface

contains

  ! Begins the region of this name; trailing blanks do not count.
  subroutine hayase_region_begin(name)
    character(len=*), intent(in) :: name
    call region(1_c_int, name)
  end subroutine

  ! Ends the region of this name.
  subroutine hayase_region_end(name)
    character(len=*), intent(in) :: name
    call region(-1_c_int, name)
  end subroutine

  subroutine region(level, name)
    integer(c_int), intent(in) :: level
    character(len=*), intent(in) :: name
    integer(c_int) :: begun, ended, ignored
    ignored = initialized(begun)
    ignored = finalized(ended)
    if (begun /= 0 .and. ended == 0) ignored = control(level, trim(name) // c_null_char)
  end subroutine

end module
