! libprofile.f90: phase markers for Fortran 2003 and later. Optional: libprofile also measures programs without them.
!
!     use libprofile
!     call profile_iteration_begin("timestep")      one iteration of a loop: the unit of the time series
!     call profile_phase_begin("solve")             a part of the program, inside an iteration or outside all
!     call profile_phase_end("solve")
!     call profile_iteration_end("timestep")
!     call profile_region_begin("pack")             a piece of code, with its visits and time; cheaper than a phase
!     call profile_region_end("pack")
!
! Compile this file with your own compiler, before the files that use it, and link the object:
!     mpif90 -c PREFIX/include/libprofile.f90       (module files differ between compilers: none is installed)
! The program needs nothing else, with or without libprofile.so. Code that cannot use a module (Fortran 77) calls the same
! names as external subroutines and links with -lprofile_fortran instead of this file.
!
! Contract: that of libprofile.h (threads, signals, cost, nesting). Trailing blanks of a name are ignored, and
! characters after the first 255.
module libprofile
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: profile_iteration_begin, profile_iteration_end, profile_phase_begin, profile_phase_end
  public :: profile_region_begin, profile_region_end

  ! Operations of the library's one entry point, void profile_marker_v1(int operation, const char* name).
  integer(c_int), parameter :: iteration_begin = 0, iteration_end = 1, phase_begin = 2, phase_end = 3, &
                               region_begin = 4, region_end = 5
  integer, parameter :: longest_name = 255

  abstract interface
    subroutine marker_function(operation, name) bind(C)
      import :: c_int, c_char
      integer(c_int), value :: operation
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
  end interface

  interface
    ! The C library's dlsym; the null handle is RTLD_DEFAULT. What it finds here is always a function.
    function libprofile_dlsym(handle, name) bind(C, name="dlsym") result(address)
      import :: c_ptr, c_funptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr) :: address
    end function
  end interface

  ! Looked up at the first marker and kept. Threads that race here store the same values; the address comes first.
  type(c_funptr), save, volatile :: resolved = c_null_funptr
  logical, save, volatile :: looked_up = .false.

contains

  subroutine profile_iteration_begin(name)
    character(len=*), intent(in) :: name
    call mark(iteration_begin, name)
  end subroutine

  subroutine profile_iteration_end(name)
    character(len=*), intent(in) :: name
    call mark(iteration_end, name)
  end subroutine

  subroutine profile_phase_begin(name)
    character(len=*), intent(in) :: name
    call mark(phase_begin, name)
  end subroutine

  subroutine profile_phase_end(name)
    character(len=*), intent(in) :: name
    call mark(phase_end, name)
  end subroutine

  subroutine profile_region_begin(name)
    character(len=*), intent(in) :: name
    call mark(region_begin, name)
  end subroutine

  subroutine profile_region_end(name)
    character(len=*), intent(in) :: name
    call mark(region_end, name)
  end subroutine

  subroutine mark(operation, name)
    integer(c_int), intent(in) :: operation
    character(len=*), intent(in) :: name
    procedure(marker_function), pointer :: marker
    type(c_funptr) :: address
    character(kind=c_char) :: c_name(longest_name + 1)
    integer :: i, length

    if (.not. looked_up) then
      resolved = libprofile_dlsym(c_null_ptr, "profile_marker_v1" // c_null_char)
      looked_up = .true.
    end if
    address = resolved
    if (.not. c_associated(address)) return

    length = min(len_trim(name), longest_name)
    do i = 1, length
      c_name(i) = name(i:i)
    end do
    c_name(length + 1) = c_null_char
    call c_f_procpointer(address, marker)
    call marker(operation, c_name)
  end subroutine

end module
