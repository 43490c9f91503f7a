! call_log.h for Fortran.
module call_log
  use, intrinsic :: iso_c_binding
  implicit none
  character(len=*), parameter :: AS_SOURCE = 'collective_as_source'
  character(len=*), parameter :: AS_DESTINATION = 'collective_as_destination'
  character(len=*), parameter :: EXCHANGE = 'collective_exchange'
  interface
    subroutine log_call(name) bind(C)
      import
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine log_metric(name, amount) bind(C)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_long_long), value :: amount
    end subroutine
    subroutine c_collective(role, out, in) bind(C, name='collective')
      import
      character(kind=c_char), intent(in) :: role(*)
      integer(c_long_long), value :: out, in
    end subroutine
    subroutine log_callback_begin() bind(C)
    end subroutine
    subroutine log_callback_end() bind(C)
    end subroutine
    subroutine barrier_passed() bind(C)
    end subroutine
    subroutine c_sent(bytes) bind(C, name='sent')
      import
      integer(c_long_long), value :: bytes
    end subroutine
    subroutine c_received(bytes) bind(C, name='received')
      import
      integer(c_long_long), value :: bytes
    end subroutine
    subroutine observe_number(number) bind(C)
      import
      integer(c_long_long), value :: number
    end subroutine
    subroutine c_check(condition, line) bind(C, name='check')
      import
      integer(c_int), value :: condition, line
    end subroutine
    function c_finish(program, rank) bind(C, name='log_finish')
      import
      character(kind=c_char), intent(in) :: program(*)
      integer(c_int), value :: rank
      integer(c_int) :: c_finish
    end function
    subroutine c_exit(code) bind(C, name='exit')
      import
      integer(c_int), value :: code
    end subroutine
  end interface
contains
  subroutine called(name)
    character(len=*), intent(in) :: name
    call log_call(name//c_null_char)
  end subroutine
  subroutine add(metric, amount)
    character(len=*), intent(in) :: metric
    integer, intent(in) :: amount
    call log_metric(metric//c_null_char, int(amount, c_long_long))
  end subroutine
  subroutine sent(bytes)
    integer, intent(in) :: bytes
    call c_sent(int(bytes, c_long_long))
  end subroutine
  subroutine received(bytes)
    integer, intent(in) :: bytes
    call c_received(int(bytes, c_long_long))
  end subroutine
  subroutine collective(role, out, in)
    character(len=*), intent(in) :: role
    integer, intent(in) :: out, in
    call c_collective(role//c_null_char, int(out, c_long_long), int(in, c_long_long))
  end subroutine
  ! For callbacks of MPI, see log_callback_begin in call_log.h.
  subroutine check(condition, line)
    logical, intent(in) :: condition
    integer, intent(in) :: line
    call c_check(merge(1_c_int, 0_c_int, condition), int(line, c_int))
  end subroutine
  subroutine observe(numbers)
    integer, intent(in) :: numbers(:)
    integer :: i
    do i = 1, size(numbers)
      call observe_number(int(numbers(i), c_long_long))
    end do
  end subroutine
  subroutine finish(program, rank)
    character(len=*), intent(in) :: program
    integer, intent(in) :: rank
    call c_exit(c_finish(program//c_null_char, int(rank, c_int)))
  end subroutine
end module
