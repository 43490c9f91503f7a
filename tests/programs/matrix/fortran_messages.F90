! Point-to-point calls of the Fortran bindings.
#include "binding.inc"
program fortran_messages
  USE_BINDING
  use call_log
  implicit none
  INCLUDE_BINDING
  integer, parameter :: many = 40
  integer :: rank, ranks, right, left, ierror, i, found, bytes, way, done, index, indices(2 * many)
  integer, asynchronous :: out(4000), in(4000)
  logical :: flag
  T_REQUEST :: request, requests(2 * many)
  T_DATATYPE :: gapped
#if defined(MPICH) && defined(USE_MPI_F08)
  integer, parameter :: offset = merge(1, 0, 10 * MPI_VERSION + MPI_SUBVERSION < 41) ! before MPICH 4.2 its indices begin with 0
#else
  integer, parameter :: offset = 0
#endif
  STATUS(status)
  STATUSES(several, 2 * many)
  character, asynchronous :: space(4000)
#ifdef USE_MPI_F08
  type(c_ptr) :: detached
#else
  character :: detached(4000)
#endif

  CALL(MPI_Init)(ierror)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, rank, ierror)
  CALL(MPI_Comm_size)(MPI_COMM_WORLD, ranks, ierror)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  out = [(1000 * rank + i, i = 1, size(out))]
  in = 0
  call blocking()
  call probes()
  call nonblocking()
  call persistent()
  CALL(MPI_Finalize)(ierror)
  call finish('fortran_messages', rank)

contains

  subroutine blocking()
    CALL(MPI_Send)(out, 3, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierror)
    call sent(12)
    CALL(MPI_Recv)(in, 64, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status, ierror)
    call received(12)
    CALL(MPI_Get_count)(status, MPI_INTEGER, found, ierror)
    call check(found == 3 .and. STATUS_SOURCE(status) == left, __LINE__)
    CALL(MPI_Buffer_attach)(space, size(space), ierror)
    CALL(MPI_Bsend)(out, 4, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, ierror)
    call sent(32)
    CALL(MPI_Recv)(in, 64, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call received(32)
    CALL(MPI_Irecv)(in, 64, MPI_INTEGER, left, 3, MPI_COMM_WORLD, request, ierror)
    CALL(MPI_Ssend)(out, 5, MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierror)
    call sent(20)
    CALL(MPI_Wait)(request, status, ierror)
    call received(20)
    CALL(MPI_Irecv)(in, 64, MPI_INTEGER, left, 4, MPI_COMM_WORLD, request, ierror)
    CALL(MPI_Barrier)(MPI_COMM_WORLD, ierror)
    call barrier_passed()
    CALL(MPI_Rsend)(out, 6, MPI_INTEGER, right, 4, MPI_COMM_WORLD, ierror)
    call sent(24)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
    call received(24)
    CALL(MPI_Sendrecv)(out, 7, MPI_INTEGER, right, 5, in, 64, MPI_INTEGER, left, 5, MPI_COMM_WORLD, status, ierror)
    call sent(28)
    call received(28)
    CALL(MPI_Sendrecv_replace)(in, 7, MPI_INTEGER, right, 6, left, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call sent(28)
    call received(28)
    call observe(in(1:64))
    ! to and from nobody, and nothing
    CALL(MPI_Send)(out, 3, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ierror)
    CALL(MPI_Recv)(in, 3, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, status, ierror)
    CALL(MPI_Sendrecv)(out, 0, MPI_INTEGER, right, 5, in, 0, MPI_INTEGER, left, 5, MPI_COMM_WORLD, status, ierror)
    call sent(0)
    call received(0)
    ! a datatype with gaps, and an array section with gaps
    CALL(MPI_Type_vector)(3, 1, 2, MPI_INTEGER, gapped, ierror)
    CALL(MPI_Type_commit)(gapped, ierror)
    CALL(MPI_Send)(out, 2, gapped, right, 7, MPI_COMM_WORLD, ierror)
    call sent(24)
    CALL(MPI_Recv)(in, 64, MPI_INTEGER, left, 7, MPI_COMM_WORLD, status, ierror)
    call received(24)
    CALL(MPI_Get_elements)(status, gapped, found, ierror)
    call check(found == 6, __LINE__)
    CALL(MPI_Type_free)(gapped, ierror)
    CALL(MPI_Send)(out(1:13:3), 5, MPI_INTEGER, right, 8, MPI_COMM_WORLD, ierror)
    call sent(20)
    CALL(MPI_Recv)(in(1:9:2), 5, MPI_INTEGER, left, 8, MPI_COMM_WORLD, status, ierror)
    call received(20)
    call observe(in(1:64))
  end subroutine

  subroutine probes()
    T_MESSAGE :: message
    CALL(MPI_Send)(out, 8, MPI_INTEGER, right, 9, MPI_COMM_WORLD, ierror)
    call sent(32)
    CALL(MPI_Probe)(left, 9, MPI_COMM_WORLD, status, ierror)
    flag = .false.
    do while (.not. flag)
      CALL(MPI_Iprobe)(left, 9, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierror)
    end do
    CALL(MPI_Recv)(in, 64, MPI_INTEGER, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call received(32)
    CALL(MPI_Send)(out, 9, MPI_INTEGER, right, 10, MPI_COMM_WORLD, ierror)
    call sent(36)
    CALL(MPI_Mprobe)(left, 10, MPI_COMM_WORLD, message, status, ierror)
    CALL(MPI_Mrecv)(in, 64, MPI_INTEGER, message, status, ierror)
    call received(36)
    CALL(MPI_Send)(out, 10, MPI_INTEGER, right, 11, MPI_COMM_WORLD, ierror)
    call sent(40)
    flag = .false.
    do while (.not. flag)
      CALL(MPI_Improbe)(left, 11, MPI_COMM_WORLD, flag, message, MPI_STATUS_IGNORE, ierror)
    end do
    CALL(MPI_Imrecv)(in, 64, MPI_INTEGER, message, request, ierror)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
    call received(40)
    call observe(in(1:64))
  end subroutine

  ! Receives of i integers and sends of as many, in as many requests as need an array of the binding's own.
  subroutine post()
    do i = 1, many
      CALL(MPI_Irecv)(in(100 * i - 99), 100, MPI_INTEGER, left, 100 + i, MPI_COMM_WORLD, requests(i), ierror)
    end do
    do i = 1, many
      CALL(MPI_Isend)(out(i), i, MPI_INTEGER, right, 100 + i, MPI_COMM_WORLD, requests(many + i), ierror)
      call sent(4 * i)
    end do
  end subroutine

  subroutine arrived(first, last)
    integer, intent(in) :: first, last
    do i = first, last
      if (i <= many) call received(4 * i)
    end do
  end subroutine

  subroutine nonblocking()
    integer :: k
    call post()
    CALL(MPI_Waitall)(2 * many, requests, several, ierror)
    call arrived(1, many)
    call post()
    CALL(MPI_Waitall)(2 * many, requests, MPI_STATUSES_IGNORE, ierror)
    call arrived(1, many)
    do way = 1, 4
      call post()
      done = 0
      do while (done < 2 * many)
        found = 0
        select case (way)
        case (1)
          CALL(MPI_Waitany)(2 * many, requests, indices(1), status, ierror)
          found = 1
        case (2)
          CALL(MPI_Testany)(2 * many, requests, indices(1), flag, MPI_STATUS_IGNORE, ierror)
          if (flag) found = 1
        case (3)
          CALL(MPI_Waitsome)(2 * many, requests, found, indices, several, ierror)
        case (4)
          CALL(MPI_Testsome)(2 * many, requests, found, indices, MPI_STATUSES_IGNORE, ierror)
        end select
        do k = 1, found
          call arrived(indices(k) + offset, indices(k) + offset)
        end do
        done = done + found
      end do
      CALL(MPI_Waitany)(2 * many, requests, index, MPI_STATUS_IGNORE, ierror)
      call check(index < 0, __LINE__) ! MPI_UNDEFINED, but MPICH's mpif.h adds 1 to it
    end do
    call post()
    flag = .false.
    do while (.not. flag)
      CALL(MPI_Testall)(2 * many, requests, flag, MPI_STATUSES_IGNORE, ierror)
    end do
    call arrived(1, many)
    call observe(in)
    CALL(MPI_Irecv)(in, 64, MPI_INTEGER, left, 200, MPI_COMM_WORLD, request, ierror)
    CALL(MPI_Issend)(out, 4, MPI_INTEGER, right, 200, MPI_COMM_WORLD, requests(1), ierror)
    call sent(16)
    flag = .false.
    do while (.not. flag)
      CALL(MPI_Request_get_status)(request, flag, status, ierror) ! ignored, Open MPI's would answer without looking
    end do
    flag = .false.
    do while (.not. flag)
      CALL(MPI_Test)(request, flag, MPI_STATUS_IGNORE, ierror)
    end do
    call received(16)
    CALL(MPI_Wait)(requests(1), MPI_STATUS_IGNORE, ierror)
    CALL(MPI_Irecv)(in, 64, MPI_INTEGER, left, 201, MPI_COMM_WORLD, request, ierror)
    CALL(MPI_Barrier)(MPI_COMM_WORLD, ierror)
    call barrier_passed()
    CALL(MPI_Irsend)(out, 5, MPI_INTEGER, right, 201, MPI_COMM_WORLD, requests(1), ierror)
    call sent(20)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
    call received(20)
    CALL(MPI_Wait)(requests(1), MPI_STATUS_IGNORE, ierror)
    CALL(MPI_Irecv)(in, 64, MPI_INTEGER, left, 202, MPI_COMM_WORLD, request, ierror)
    CALL(MPI_Ibsend)(out, 6, MPI_INTEGER, right, 202, MPI_COMM_WORLD, requests(1), ierror)
    call sent(24)
    CALL(MPI_Request_free)(requests(1), ierror)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
    call received(24)
    CALL(MPI_Buffer_detach)(detached, bytes, ierror)
    CALL(MPI_Irecv)(in, 64, MPI_INTEGER, left, 203, MPI_COMM_WORLD, request, ierror)
    CALL(MPI_Cancel)(request, ierror)
    CALL(MPI_Wait)(request, status, ierror)
    CALL(MPI_Test_cancelled)(status, flag, ierror)
    call check(flag, __LINE__)
  end subroutine

  subroutine persistent()
    integer :: round
    CALL(MPI_Recv_init)(in, 64, MPI_INTEGER, left, 300, MPI_COMM_WORLD, requests(1), ierror)
    CALL(MPI_Recv_init)(in(65), 64, MPI_INTEGER, left, 301, MPI_COMM_WORLD, requests(2), ierror)
    CALL(MPI_Send_init)(out, 3, MPI_INTEGER, right, 300, MPI_COMM_WORLD, requests(3), ierror)
    CALL(MPI_Ssend_init)(out, 4, MPI_INTEGER, right, 301, MPI_COMM_WORLD, requests(4), ierror)
    do round = 1, 2
      if (round == 1) then
        CALL(MPI_Startall)(4, requests, ierror)
        call sent(12)
        call sent(16)
      else
        do i = 1, 4
          CALL(MPI_Start)(requests(i), ierror)
          if (i == 3) call sent(12)
          if (i == 4) call sent(16)
        end do
      end if
      CALL(MPI_Waitall)(4, requests, MPI_STATUSES_IGNORE, ierror)
      call received(12)
      call received(16)
    end do
    do i = 1, 4
      CALL(MPI_Request_free)(requests(i), ierror)
    end do
    CALL(MPI_Buffer_attach)(space, size(space), ierror)
    CALL(MPI_Bsend_init)(out, 5, MPI_INTEGER, right, 302, MPI_COMM_WORLD, requests(1), ierror)
    CALL(MPI_Rsend_init)(out, 6, MPI_INTEGER, MPI_PROC_NULL, 303, MPI_COMM_WORLD, requests(2), ierror)
    CALL(MPI_Startall)(2, requests, ierror)
    call sent(20)
    CALL(MPI_Recv)(in, 64, MPI_INTEGER, left, 302, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call received(20)
    CALL(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE, ierror)
    CALL(MPI_Request_free)(requests(1), ierror)
    CALL(MPI_Request_free)(requests(2), ierror)
    CALL(MPI_Buffer_detach)(detached, bytes, ierror)
    call observe(in(1:128))
  end subroutine
end program
