! Communicators, groups, topologies, datatypes, attributes, operations, error handlers, info and names of the Fortran bindings:
! the bindings convert arrays of handles and logicals, characters and callbacks.
#include "binding.inc"
module callbacks
  USE_BINDING
  use call_log
  implicit none
  INCLUDE_BINDING
  private
  public :: comm_copy, comm_delete, copied, deleted
  integer :: copied = 0, deleted = 0
contains
  subroutine comm_copy(comm, key, extra, value_in, value_out, flag, ierror)
    T_COMM :: comm
    integer :: key, ierror
    integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    integer :: size
    copied = copied + 1
    value_out = value_in
    flag = .true.
    call log_callback_begin()
    CALL(MPI_Comm_size)(comm, size, ierror)
    call log_callback_end()
    ierror = MPI_SUCCESS
  end subroutine
  subroutine comm_delete(comm, key, value, extra, ierror)
    T_COMM :: comm
    integer :: key, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    integer :: rank
    deleted = deleted + 1
    call log_callback_begin()
    CALL(MPI_Comm_rank)(MPI_COMM_WORLD, rank, ierror)
    call log_callback_end()
    ierror = MPI_SUCCESS
  end subroutine
end module

program fortran_objects
  USE_BINDING
  use call_log
  use callbacks
  implicit none
  INCLUDE_BINDING
  integer :: rank, ranks, right, left, ierror, i, number, length
  integer, asynchronous :: out(400), in(400)
  logical :: flag

  CALL(MPI_Init)(ierror)
  CALL(MPI_Comm_rank)(MPI_COMM_WORLD, rank, ierror)
  CALL(MPI_Comm_size)(MPI_COMM_WORLD, ranks, ierror)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  out = [(1000 * rank + i, i = 1, size(out))]
  in = 0
  call communicators()
  call topologies()
  call datatypes()
  call library()
  CALL(MPI_Finalize)(ierror)
  call finish('fortran_objects', rank)

contains

  subroutine communicators()
    T_COMM :: copy, part, inter, both
    T_GROUP :: group, some
    T_REQUEST :: request
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: key, place(1)
    integer(MPI_ADDRESS_KIND) :: value, extra
    extra = 0
    value = 5
    CALL(MPI_Comm_create_keyval)(comm_copy, comm_delete, key, extra, ierror)
    CALL(MPI_Comm_set_attr)(MPI_COMM_WORLD, key, value, ierror)
    CALL(MPI_Comm_get_attr)(MPI_COMM_WORLD, key, value, flag, ierror)
    call check(flag .and. value == 5, __LINE__)
    CALL(MPI_Comm_dup)(MPI_COMM_WORLD, copy, ierror)
    CALL(MPI_Comm_free)(copy, ierror)
    CALL(MPI_Comm_delete_attr)(MPI_COMM_WORLD, key, ierror)
    CALL(MPI_Comm_free_keyval)(key, ierror)
    call check(copied == 1 .and. deleted == 2, __LINE__)
    CALL(MPI_Comm_idup)(MPI_COMM_WORLD, copy, request, ierror)
    CALL(MPI_Wait)(request, MPI_STATUS_IGNORE, ierror)
    CALL(MPI_Comm_set_name)(copy, 'a copy', ierror)
    CALL(MPI_Comm_get_name)(copy, name, length, ierror)
    call check(name(1:length) == 'a copy', __LINE__)
    CALL(MPI_Comm_compare)(MPI_COMM_WORLD, copy, number, ierror)
    call check(number == MPI_CONGRUENT, __LINE__)
    CALL(MPI_Comm_free)(copy, ierror)
    CALL(MPI_Comm_group)(MPI_COMM_WORLD, group, ierror)
    CALL(MPI_Group_incl)(group, 1, [0], some, ierror)
    CALL(MPI_Group_translate_ranks)(some, 1, [0], group, place, ierror)
    CALL(MPI_Group_size)(some, number, ierror)
    CALL(MPI_Group_rank)(group, number, ierror)
    CALL(MPI_Comm_create)(MPI_COMM_WORLD, group, copy, ierror)
    CALL(MPI_Comm_free)(copy, ierror)
    CALL(MPI_Group_free)(some, ierror)
    CALL(MPI_Group_free)(group, ierror)
    CALL(MPI_Comm_split)(MPI_COMM_WORLD, merge(1, 0, rank == 0), rank, part, ierror)
    CALL(MPI_Intercomm_create)(part, 0, MPI_COMM_WORLD, merge(1, 0, rank == 0), 5, inter, ierror)
    CALL(MPI_Comm_test_inter)(inter, flag, ierror)
    CALL(MPI_Comm_remote_size)(inter, number, ierror)
    CALL(MPI_Bcast)(in, 7, MPI_INTEGER, merge(MPI_ROOT, 0, rank == 0), inter, ierror)
    if (rank == 0) call collective(AS_SOURCE, 28, 0)
    if (rank /= 0) call collective(AS_DESTINATION, 0, 28)
    CALL(MPI_Intercomm_merge)(inter, .false., both, ierror)
    CALL(MPI_Comm_free)(both, ierror)
    CALL(MPI_Comm_free)(inter, ierror)
    CALL(MPI_Comm_free)(part, ierror)
  end subroutine

  subroutine topologies()
    T_COMM :: grid, row, graph
    integer :: place(2), sizes(2), from, to, ends(64), edges(64), count
    logical :: periods(2)
    sizes = 0
    CALL(MPI_Dims_create)(ranks, 2, sizes, ierror)
    CALL(MPI_Cart_create)(MPI_COMM_WORLD, 2, [ranks, 1], [.true., .false.], .false., grid, ierror)
    CALL(MPI_Cartdim_get)(grid, count, ierror)
    CALL(MPI_Cart_get)(grid, 2, sizes, periods, place, ierror)
    call check(periods(1) .and. .not. periods(2), __LINE__)
    CALL(MPI_Cart_rank)(grid, place, number, ierror)
    CALL(MPI_Cart_coords)(grid, rank, 2, place, ierror)
    CALL(MPI_Cart_shift)(grid, 0, 1, from, to, ierror)
    call check(from == left .and. to == right, __LINE__)
    CALL(MPI_Cart_sub)(grid, [.true., .false.], row, ierror)
    CALL(MPI_Cart_map)(MPI_COMM_WORLD, 2, [ranks, 1], [.true., .false.], number, ierror)
    CALL(MPI_Topo_test)(grid, number, ierror)
    call check(number == MPI_CART, __LINE__)
    CALL(MPI_Comm_free)(row, ierror)
    CALL(MPI_Comm_free)(grid, ierror)
    ends(1:ranks) = [(i, i = 1, ranks)]
    edges(1:ranks) = [(mod(i, ranks), i = 1, ranks)]
    CALL(MPI_Graph_create)(MPI_COMM_WORLD, ranks, ends, edges, .false., graph, ierror)
    CALL(MPI_Graphdims_get)(graph, number, count, ierror)
    CALL(MPI_Graph_get)(graph, 64, 64, ends, edges, ierror)
    CALL(MPI_Graph_neighbors_count)(graph, rank, count, ierror)
    CALL(MPI_Graph_neighbors)(graph, rank, count, edges, ierror)
    call check(edges(1) == right, __LINE__)
    CALL(MPI_Comm_free)(graph, ierror)
    CALL(MPI_Dist_graph_create)(MPI_COMM_WORLD, 1, [rank], [1], [right], [1], MPI_INFO_NULL, .false., graph, ierror)
    CALL(MPI_Dist_graph_neighbors_count)(graph, number, count, flag, ierror)
    CALL(MPI_Dist_graph_neighbors)(graph, 1, ends, edges, 1, sizes, place, ierror)
    call check(ends(1) == left .and. sizes(1) == right, __LINE__)
    CALL(MPI_Comm_free)(graph, ierror)
  end subroutine

  subroutine make(type, bytes)
    T_DATATYPE :: type
    integer, intent(in) :: bytes
    CALL(MPI_Type_commit)(type, ierror)
    CALL(MPI_Type_size)(type, number, ierror)
    call check(number == bytes, __LINE__)
    CALL(MPI_Sendrecv)(out, 1, type, right, 1, in, 1, type, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call sent(bytes)
    call received(bytes)
    CALL(MPI_Type_free)(type, ierror)
  end subroutine

  subroutine datatypes()
    T_DATATYPE :: type, kinds(40)
    integer :: lengths(40), position
    integer(MPI_ADDRESS_KIND) :: places(40), low, extent
    integer :: box(100)
    lengths = 1
    places = [(8 * i, i = 0, 39)]
    kinds = MPI_INTEGER
    CALL(MPI_Type_create_struct)(40, lengths, places, kinds, type, ierror)
    CALL(MPI_Type_get_extent)(type, low, extent, ierror)
    call make(type, 160)
    CALL(MPI_Type_contiguous)(3, MPI_INTEGER, type, ierror)
    call make(type, 12)
    CALL(MPI_Type_create_hvector)(3, 1, places(2), MPI_INTEGER, type, ierror)
    call make(type, 12)
    CALL(MPI_Type_indexed)(2, [1, 2], [0, 3], MPI_INTEGER, type, ierror)
    call make(type, 12)
    CALL(MPI_Type_create_hindexed)(2, lengths, places, MPI_INTEGER, type, ierror)
    call make(type, 8)
    CALL(MPI_Type_create_subarray)(2, [4, 6], [2, 3], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, type, ierror)
    call make(type, 24)
    CALL(MPI_Type_create_resized)(MPI_INTEGER, places(1), places(5), type, ierror)
    call make(type, 4)
    CALL(MPI_Type_create_f90_integer)(6, type, ierror)
    position = 0
    CALL(MPI_Pack)(out, 5, MPI_INTEGER, box, 400, position, MPI_COMM_WORLD, ierror)
    position = 0
    CALL(MPI_Unpack)(box, 400, position, in, 5, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    CALL(MPI_Pack_size)(5, MPI_INTEGER, MPI_COMM_WORLD, number, ierror)
    CALL(MPI_Get_address)(in, low, ierror)
#ifndef USE_MPI_F08
    CALL(MPI_Address)(in, number, ierror)
    CALL(MPI_Type_hvector)(3, 1, 8, MPI_INTEGER, type, ierror)
    CALL(MPI_Type_extent)(type, number, ierror)
    call check(number == 20, __LINE__)
    call make(type, 12)
    CALL(MPI_Type_struct)(2, [1, 1], [0, 8], [MPI_INTEGER, MPI_INTEGER], type, ierror)
    call make(type, 8)
#endif
    call observe(in)
  end subroutine

  subroutine library()
    T_INFO :: info
    T_ERRHANDLER :: handler
    character(len=64) :: text
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    character(len=MPI_MAX_ERROR_STRING) :: message
    CALL(MPI_Info_create)(info, ierror)
    CALL(MPI_Info_set)(info, 'colour', 'green', ierror)
    CALL(MPI_Info_get)(info, 'colour', 63, text, flag, ierror)
    call check(flag .and. text(1:5) == 'green', __LINE__)
    CALL(MPI_Info_get_nkeys)(info, number, ierror)
    CALL(MPI_Info_free)(info, ierror)
    CALL(MPI_Get_processor_name)(name, length, ierror)
    CALL(MPI_Initialized)(flag, ierror)
    CALL(MPI_Get_version)(number, length, ierror)
    CALL(MPI_Comm_get_errhandler)(MPI_COMM_WORLD, handler, ierror)
    CALL(MPI_Comm_set_errhandler)(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    CALL(MPI_Send)(out, 1, MPI_INTEGER, ranks + 5, 1, MPI_COMM_WORLD, ierror)
    call check(ierror /= MPI_SUCCESS, __LINE__)
    CALL(MPI_Error_class)(ierror, number, i)
    CALL(MPI_Error_string)(number, message, length, ierror)
    CALL(MPI_Comm_set_errhandler)(MPI_COMM_WORLD, handler, ierror)
    CALL(MPI_Errhandler_free)(handler, ierror)
    CALL(MPI_Pcontrol)(1)
  end subroutine
end program
