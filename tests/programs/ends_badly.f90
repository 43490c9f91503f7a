! Works for a while below several procedures, with an argument calls a C++ library that throws and catches, and ends with an error of the
! run-time library, which prints a backtrace.
module work
  implicit none
  interface
    subroutine unwinds_run() bind(c)
    end subroutine
  end interface
  double precision :: total = 0
contains
  recursive double precision function descend(depth) result(sum)
    integer, intent(in) :: depth
    integer :: i
    sum = 0
    do i = 1, 300
      sum = sum + 1d0 / (i + depth)
    end do
    if (depth > 0) sum = sum + descend(depth - 1)
    total = total + sum
  end function
  recursive subroutine end_below(depth)
    integer, intent(in) :: depth
    integer, allocatable :: values(:)
    integer :: i
    if (depth > 0) then
      call end_below(depth - 1)
      total = total + 1
    else
      do i = 1, 20000
        total = total + descend(10)
      end do
      allocate (values(2))
      allocate (values(3)) ! the error
    end if
  end subroutine
end module

program ends_badly
  use work
  implicit none
  if (command_argument_count() > 0) then
    call unwinds_run()
  else
    call end_below(8)
  end if
end program
