! One-sided calls and files of the Fortran bindings.
#include "binding.inc"
program fortran_memory
  USE_BINDING
  use call_log
  implicit none
  INCLUDE_BINDING
  integer :: rank, ranks, right, left, ierror, i, found
  integer, asynchronous :: out(400), in(400), memory(256)
  T_REQUEST :: request
  STATUS(status)

  CALL(MPI_Init)(ierror)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, rank, ierror)
  CALL(MPI_Comm_size)(MPI_COMM_WORLD, ranks, ierror)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  out = [(1000 * rank + i, i = 1, size(out))]
  in = 0
  memory = 0
  call windows()
  call files()
  CALL(MPI_Finalize)(ierror)
  call finish('fortran_memory', rank)

contains

  subroutine atomic(bytes_put, bytes_got)
    integer, intent(in) :: bytes_put, bytes_got
    call add('one_sided_atomics', 1)
    call add('one_sided_bytes_put', bytes_put)
    call add('one_sided_bytes_got', bytes_got)
  end subroutine

  subroutine windows()
    T_WIN :: win
    T_GROUP :: all, origin, target
    logical :: flag
    integer(MPI_ADDRESS_KIND) :: place
    CALL(MPI_Win_create)(memory, 1024_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    CALL(MPI_Win_fence)(0, win, ierror)
    place = 3
    CALL(MPI_Put)(out, 7, MPI_INTEGER, right, place, 7, MPI_INTEGER, win, ierror)
    call add('one_sided_puts', 1)
    call add('one_sided_bytes_put', 28)
    CALL(MPI_Put)(out, 7, MPI_INTEGER, MPI_PROC_NULL, place, 7, MPI_INTEGER, win, ierror)
    place = 100
    CALL(MPI_Get)(in, 5, MPI_INTEGER, right, place, 5, MPI_INTEGER, win, ierror)
    call add('one_sided_gets', 1)
    call add('one_sided_bytes_got', 20)
    place = 20
    CALL(MPI_Accumulate)(out, 4, MPI_INTEGER, right, place, 4, MPI_INTEGER, MPI_SUM, win, ierror)
    call atomic(16, 0)
    place = 30
    CALL(MPI_Get_accumulate)(out, 3, MPI_INTEGER, in(10), 3, MPI_INTEGER, right, place, 3, MPI_INTEGER, MPI_SUM, win, ierror)
    call atomic(12, 12)
    CALL(MPI_Win_fence)(0, win, ierror)
    CALL(MPI_Win_lock)(MPI_LOCK_EXCLUSIVE, right, 0, win, ierror)
    place = 40
    CALL(MPI_Fetch_and_op)(out, in(20), MPI_INTEGER, right, place, MPI_SUM, win, ierror)
    call atomic(4, 4)
    place = 41
    CALL(MPI_Compare_and_swap)(out, out(2), in(21), MPI_INTEGER, right, place, win, ierror)
    call atomic(4, 4)
    place = 50
    CALL(MPI_Rput)(out, 7, MPI_INTEGER, right, place, 7, MPI_INTEGER, win, request, ierror)
    call add('one_sided_puts', 1)
    call add('one_sided_bytes_put', 28)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
    place = 100
    CALL(MPI_Rget)(in(30), 5, MPI_INTEGER, right, place, 5, MPI_INTEGER, win, request, ierror)
    call add('one_sided_gets', 1)
    call add('one_sided_bytes_got', 20)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
    place = 60
    CALL(MPI_Raccumulate)(out, 4, MPI_INTEGER, right, place, 4, MPI_INTEGER, MPI_SUM, win, request, ierror)
    call atomic(16, 0)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
    place = 70
    CALL(MPI_Rget_accumulate)(out, 3, MPI_INTEGER, in(40), 3, MPI_INTEGER, right, place, 3, MPI_INTEGER, MPI_NO_OP, win, request, ierror)
    call atomic(0, 12)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
    CALL(MPI_Win_flush)(right, win, ierror)
    CALL(MPI_Win_flush_local)(right, win, ierror)
    CALL(MPI_Win_unlock)(right, win, ierror)
    CALL(MPI_Win_lock_all)(0, win, ierror)
    CALL(MPI_Win_flush_all)(win, ierror)
    CALL(MPI_Win_flush_local_all)(win, ierror)
    CALL(MPI_Win_sync)(win, ierror)
    CALL(MPI_Win_unlock_all)(win, ierror)
    CALL(MPI_Comm_group)(MPI_COMM_WORLD, all, ierror)
    CALL(MPI_Group_incl)(all, 1, [left], origin, ierror)
    CALL(MPI_Group_incl)(all, 1, [right], target, ierror)
    CALL(MPI_Win_post)(origin, 0, win, ierror)
    CALL(MPI_Win_start)(target, 0, win, ierror)
    CALL(MPI_Win_complete)(win, ierror)
    CALL(MPI_Win_wait)(win, ierror)
    CALL(MPI_Win_post)(origin, 0, win, ierror)
    CALL(MPI_Win_start)(target, 0, win, ierror)
    CALL(MPI_Win_complete)(win, ierror)
    flag = .false.
    do while (.not. flag)
      CALL(MPI_Win_test)(win, flag, ierror)
    end do
    CALL(MPI_Group_free)(all, ierror)
    CALL(MPI_Group_free)(origin, ierror)
    CALL(MPI_Group_free)(target, ierror)
    CALL(MPI_Win_free)(win, ierror)
    call observe(memory)
    call observe(in)
  end subroutine

  subroutine read_now(bytes)
    integer, intent(in) :: bytes
    call add('file_individual_reads', 1)
    call add('file_individual_bytes_read', bytes)
    call observe(in(1:bytes / 4))
  end subroutine
  subroutine written(bytes)
    integer, intent(in) :: bytes
    call add('file_individual_writes', 1)
    call add('file_individual_bytes_written', bytes)
  end subroutine
  subroutine all_read(bytes)
    integer, intent(in) :: bytes
    call add('file_collective_reads', 1)
    call add('file_collective_bytes_read', bytes)
    call observe(in(1:bytes / 4))
  end subroutine
  subroutine all_written(bytes)
    integer, intent(in) :: bytes
    call add('file_collective_writes', 1)
    call add('file_collective_bytes_written', bytes)
  end subroutine

  subroutine files()
    T_FILE :: file
    T_DATATYPE :: etype, filetype
    character(len=MPI_MAX_DATAREP_STRING) :: representation
    integer(MPI_OFFSET_KIND) :: own, place
    CALL(MPI_File_open)(MPI_COMM_WORLD, 'matrix.data', MPI_MODE_RDWR + MPI_MODE_CREATE, MPI_INFO_NULL, file, ierror)
    place = 0
    CALL(MPI_File_set_size)(file, place, ierror)
    CALL(MPI_File_set_view)(file, place, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
    CALL(MPI_File_get_view)(file, place, etype, filetype, representation, ierror)
    own = 100 * rank
    CALL(MPI_File_write_at)(file, own, out, 7, MPI_INTEGER, status, ierror)
    call written(28)
    place = own + 10
    CALL(MPI_File_write_at_all)(file, place, out, 8, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call all_written(32)
    CALL(MPI_Barrier)(MPI_COMM_WORLD, ierror)
    call barrier_passed()
    CALL(MPI_File_seek)(file, own, MPI_SEEK_SET, ierror)
    CALL(MPI_File_read)(file, in, 7, MPI_INTEGER, status, ierror)
    call read_now(28)
    CALL(MPI_Get_count)(status, MPI_INTEGER, found, ierror)
    call check(found == 7, __LINE__)
    CALL(MPI_File_write)(file, out, 9, MPI_INTEGER, status, ierror)
    call written(36)
    CALL(MPI_File_write_all)(file, out, 10, MPI_INTEGER, status, ierror)
    call all_written(40)
    CALL(MPI_Barrier)(MPI_COMM_WORLD, ierror)
    call barrier_passed()
    CALL(MPI_File_iwrite)(file, out, 100 - 26, MPI_INTEGER, request, ierror)
    call written(296)
    CALL(MPI_Wait)(request, status, ierror)
    CALL(MPI_Barrier)(MPI_COMM_WORLD, ierror)
    call barrier_passed()
    place = 100 * ranks - 3
    CALL(MPI_File_read_at)(file, place, in, 20, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call read_now(12)
    CALL(MPI_File_read_at_all)(file, own, in, 11, MPI_INTEGER, status, ierror)
    call all_read(44)
    CALL(MPI_File_iread_at)(file, own, in, 12, MPI_INTEGER, request, ierror)
    call add('file_individual_reads', 1)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
    call add('file_individual_bytes_read', 48)
    CALL(MPI_File_seek)(file, own, MPI_SEEK_SET, ierror)
    CALL(MPI_File_read_all)(file, in, 13, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    call all_read(52)
    CALL(MPI_File_iread)(file, in, 14, MPI_INTEGER, request, ierror)
    call add('file_individual_reads', 1)
    CALL(MPI_Wait)(request, status, ierror)
    call add('file_individual_bytes_read', 56)
    CALL(MPI_File_get_position)(file, place, ierror)
    call check(place == own + 27, __LINE__)
    place = 0
    CALL(MPI_Barrier)(MPI_COMM_WORLD, ierror)
    call barrier_passed()
    CALL(MPI_File_seek_shared)(file, place, MPI_SEEK_SET, ierror)
    CALL(MPI_File_write_ordered)(file, out, 5, MPI_INTEGER, status, ierror)
    call all_written(20)
    CALL(MPI_Barrier)(MPI_COMM_WORLD, ierror)
    call barrier_passed()
    CALL(MPI_File_write_shared)(file, out, 0, MPI_INTEGER, status, ierror)
    call written(0)
    CALL(MPI_Barrier)(MPI_COMM_WORLD, ierror)
    call barrier_passed()
    CALL(MPI_File_seek_shared)(file, place, MPI_SEEK_SET, ierror)
    CALL(MPI_File_read_ordered)(file, in, 5, MPI_INTEGER, status, ierror)
    call all_read(20)
    CALL(MPI_File_read_shared)(file, in, 0, MPI_INTEGER, status, ierror)
    call read_now(0)
    CALL(MPI_File_write_at_all_begin)(file, own, out, 6, MPI_INTEGER, ierror)
    call all_written(24)
    CALL(MPI_File_write_at_all_end)(file, out, status, ierror)
    CALL(MPI_Barrier)(MPI_COMM_WORLD, ierror)
    call barrier_passed()
    CALL(MPI_File_read_at_all_begin)(file, own, in, 6, MPI_INTEGER, ierror)
    call add('file_collective_reads', 1)
    CALL(MPI_File_read_at_all_end)(file, in, MPI_STATUS_IGNORE, ierror)
    call add('file_collective_bytes_read', 24)
    CALL(MPI_File_get_size)(file, place, ierror)
    call check(place == 400 * ranks, __LINE__)
    CALL(MPI_File_sync)(file, ierror)
    CALL(MPI_File_close)(file, ierror)
    CALL(MPI_Barrier)(MPI_COMM_WORLD, ierror)
    call barrier_passed()
    if (rank == 0) then
      CALL(MPI_File_delete)('matrix.data', MPI_INFO_NULL, ierror)
    end if
  end subroutine
end program
