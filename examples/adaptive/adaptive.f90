! adaptive [STEPS [SIZE]]: a laser wanders over a SIZE x SIZE plate (default 400 steps, 512 cells), Fortran with MPI.
! The same program as adaptive.cpp, which explains it; same arithmetic, same checksum.
module plate_model
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use libprofile
  implicit none

  integer, parameter :: rebalance_period = 25, checkpoint_period = 50

  ! The rows start(rank) .. start(rank + 1) - 1 of the plate, each a column of `cells`, with a margin on each side.
  integer :: rank, ranks, plate_size, rows
  integer, allocatable :: start(:)
  real(real64), allocatable :: cells(:, :), next(:, :)
  integer(int64), allocatable :: cost(:)

contains

  ! A position between 0.1 and 0.9 of the plate, back and forth.
  pure real(real64) function triangle_wave(step, period)
    integer, intent(in) :: step, period
    real(real64) :: phase
    phase = real(mod(step, period), real64) / real(period, real64)
    triangle_wave = 0.1_real64 + 0.8_real64 * abs(2.0_real64 * phase - 1.0_real64)
  end function

  subroutine heat_by_laser(step)
    integer, intent(in) :: step
    real(real64) :: centre_row, centre_column, radius_squared, dx, dy, distance
    integer :: local, column
    centre_row = real(plate_size, real64) * triangle_wave(step, 240)
    centre_column = real(plate_size, real64) * triangle_wave(step, 90)
    radius_squared = (real(plate_size, real64) / 14.0_real64) * (real(plate_size, real64) / 14.0_real64)
    do local = 1, rows
      dy = real(start(rank) + local - 1, real64) - centre_row
      do column = 1, plate_size
        dx = real(column, real64) - centre_column
        distance = (dx * dx + dy * dy) / radius_squared
        if (distance < 1.0_real64) then
          cells(column, local) = cells(column, local) + 0.6_real64 * (1.0_real64 - distance)
        end if
      end do
    end do
  end subroutine

  subroutine exchange_halo()
    integer :: above, below, width, ierror, requests(4)
    above = MPI_PROC_NULL
    below = MPI_PROC_NULL
    if (rank > 0) above = rank - 1
    if (rank + 1 < ranks) below = rank + 1
    width = plate_size + 2
    call MPI_Irecv(cells(0, 0), width, MPI_DOUBLE_PRECISION, above, 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Irecv(cells(0, rows + 1), width, MPI_DOUBLE_PRECISION, below, 2, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Isend(cells(0, 1), width, MPI_DOUBLE_PRECISION, above, 2, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Isend(cells(0, rows), width, MPI_DOUBLE_PRECISION, below, 1, MPI_COMM_WORLD, requests(4), ierror)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
  end subroutine

  subroutine diffuse_rows()
    real(real64), allocatable :: old(:, :)
    real(real64) :: neighbours
    integer :: local, column
    do local = 1, rows
      do column = 1, plate_size
        neighbours = (cells(column - 1, local) + cells(column + 1, local)) &
                     + (cells(column, local - 1) + cells(column, local + 1))
        next(column, local) = cells(column, local) + 0.2_real64 * (neighbours - 4.0_real64 * cells(column, local))
      end do
    end do
    call move_alloc(cells, old)
    call move_alloc(next, cells)
    call move_alloc(old, next)
  end subroutine

  ! Heat conduction: an inner loop of 2 to 8 iterations.
  subroutine spread_heat(hottest)
    real(real64), intent(in) :: hottest
    integer :: sweep
    call profile_phase_begin("spread")
    do sweep = 1, min(2 + int(hottest), 8)
      call profile_iteration_begin("sweep")
      call exchange_halo()
      call diffuse_rows()
      call profile_iteration_end("sweep")
    end do
    call profile_phase_end("spread")
  end subroutine

  ! Radiation of one row, as the fourth power of the temperature; returns the number of substeps taken.
  subroutine radiate_row(row, taken)
    real(real64), intent(inout) :: row(0:plate_size + 1)
    integer(int64), intent(out) :: taken
    real(real64) :: heat, factor
    integer :: column, substep, substeps
    taken = 0
    do column = 1, plate_size
      heat = row(column)
      substeps = 1 + min(int(heat * 60.0_real64), 120)
      factor = 0.02_real64 / real(substeps, real64)
      do substep = 1, substeps
        heat = heat - factor * ((heat * heat) * (heat * heat))
      end do
      row(column) = heat
      taken = taken + substeps
    end do
  end subroutine

  subroutine radiate()
    integer :: local
    call profile_phase_begin("radiate")
    do local = 1, rows
      call radiate_row(cells(:, local), cost(local))
    end do
    call profile_phase_end("radiate")
  end subroutine

  subroutine find_hottest(hottest)
    real(real64), intent(out) :: hottest
    real(real64) :: mine
    integer :: ierror
    mine = max(0.0_real64, maxval(cells(:, 1:rows)))
    call MPI_Allreduce(mine, hottest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
  end subroutine

  ! The first rows of all ranks with equal costs, as far as whole rows allow; no rank is left empty.
  pure function balanced_starts(row_cost) result(first)
    integer(int64), intent(in) :: row_cost(0:)
    integer :: first(0:ranks)
    integer(int64) :: total, before
    integer :: r, row
    total = sum(row_cost)
    before = 0
    row = 0
    first(0) = 0
    do r = 1, ranks - 1
      do while (row < plate_size .and. before * ranks < total * r)
        before = before + row_cost(row)
        row = row + 1
      end do
      first(r) = max(first(r - 1) + 1, min(row, plate_size - (ranks - r)))
    end do
    first(ranks) = plate_size
  end function

  subroutine allocate_rows()
    rows = start(rank + 1) - start(rank)
    if (allocated(cells)) deallocate (cells)
    if (allocated(next)) deallocate (next)
    if (allocated(cost)) deallocate (cost)
    allocate (cells(0:plate_size + 1, 0:rows + 1), next(0:plate_size + 1, 0:rows + 1), source=0.0_real64)
    allocate (cost(rows), source=int(plate_size, int64))
  end subroutine

  pure integer function overlap(first, last, other_first, other_last)
    integer, intent(in) :: first, last, other_first, other_last
    overlap = max(0, min(last, other_last) - max(first, other_first))
  end function

  ! Sends each row to the rank that owns it according to `new_start`.
  subroutine move_rows(new_start)
    integer, intent(in) :: new_start(0:ranks)
    integer, dimension(0:ranks - 1) :: sent, sent_at, received, received_at
    real(real64), allocatable :: old(:, :)
    integer :: other, width, ierror
    width = plate_size + 2
    do other = 0, ranks - 1
      sent(other) = width * overlap(start(rank), start(rank + 1), new_start(other), new_start(other + 1))
      received(other) = width * overlap(new_start(rank), new_start(rank + 1), start(other), start(other + 1))
      sent_at(other) = sum(sent(0:other - 1))
      received_at(other) = sum(received(0:other - 1))
    end do
    call move_alloc(cells, old)
    start = new_start
    call allocate_rows()
    call MPI_Alltoallv(old(0, 1), sent, sent_at, MPI_DOUBLE_PRECISION, &
                       cells(0, 1), received, received_at, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierror)
  end subroutine

  subroutine rebalance()
    integer(int64) :: all_costs(0:plate_size - 1)
    integer :: counts(0:ranks - 1), ierror
    call profile_phase_begin("rebalance")
    counts = start(1:ranks) - start(0:ranks - 1)
    call MPI_Allgatherv(cost, rows, MPI_INTEGER8, all_costs, counts, start, MPI_INTEGER8, MPI_COMM_WORLD, ierror)
    call move_rows(balanced_starts(all_costs))
    call profile_phase_end("rebalance")
  end subroutine

  ! CRC-64 of the cells in units of 1e-9, bit by bit.
  subroutine compute_checksum(whole, checksum)
    real(real64), intent(in) :: whole(0:plate_size + 1, 0:plate_size - 1)
    integer(int64), intent(out) :: checksum
    integer(int64), parameter :: polynomial = -3932672073523589310_int64 ! C96C5795D7870F42
    integer :: row, column, bit
    checksum = 0
    do row = 0, plate_size - 1
      do column = 1, plate_size
        checksum = ieor(checksum, int(whole(column, row) * 1e9_real64, int64))
        do bit = 1, 64
          checksum = ieor(ishft(checksum, -1), merge(polynomial, 0_int64, btest(checksum, 0)))
        end do
      end do
    end do
  end subroutine

  ! Rank 0 computes, all others wait.
  subroutine checkpoint(checksum)
    integer(int64), intent(out) :: checksum
    real(real64), allocatable :: whole(:, :)
    integer :: counts(0:ranks - 1), width, ierror
    call profile_phase_begin("checkpoint")
    width = plate_size + 2
    counts = width * (start(1:ranks) - start(0:ranks - 1))
    allocate (whole(0:plate_size + 1, 0:merge(plate_size, 1, rank == 0) - 1))
    call MPI_Gatherv(cells(0, 1), counts(rank), MPI_DOUBLE_PRECISION, whole, counts, width * start, &
                     MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
    if (rank == 0) call compute_checksum(whole, checksum)
    call MPI_Bcast(checksum, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierror)
    call profile_phase_end("checkpoint")
  end subroutine

  subroutine advance(step, hottest)
    integer, intent(in) :: step
    real(real64), intent(inout) :: hottest
    integer(int64) :: checksum
    call profile_iteration_begin("timestep")
    call heat_by_laser(step)
    call spread_heat(hottest)
    call radiate()
    if (mod(step, rebalance_period) == 0) call rebalance()
    if (mod(step, checkpoint_period) == 0) call checkpoint(checksum)
    call find_hottest(hottest)
    call profile_iteration_end("timestep")
  end subroutine

  subroutine make_plate()
    integer :: row
    allocate (start(0:ranks))
    start = balanced_starts([(1_int64, row=1, plate_size)])
    call allocate_rows()
  end subroutine

end module

program adaptive
  use plate_model
  implicit none
  integer :: steps, step, ierror
  integer(int64) :: checksum
  real(real64) :: hottest

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  steps = argument(1, 400)
  plate_size = argument(2, 512)
  if (steps < 1 .or. plate_size < ranks) then
    print '(a)', "usage: adaptive [STEPS [SIZE]], at least one row of SIZE for each rank"
    call MPI_Abort(MPI_COMM_WORLD, 2, ierror)
  end if

  call make_plate()
  hottest = 0.0_real64
  do step = 1, steps
    call advance(step, hottest)
  end do
  call checkpoint(checksum)
  if (rank == 0) then
    print '(a, i0, a, i0, a, z16.16)', "adaptive: ", steps, " steps, size ", plate_size, ", checksum ", checksum
  end if
  call MPI_Finalize(ierror)

contains

  integer function argument(position, default_value)
    integer, intent(in) :: position, default_value
    character(len=32) :: text
    integer :: status
    argument = default_value
    if (command_argument_count() < position) return
    call get_command_argument(position, text)
    read (text, *, iostat=status) argument
    if (status /= 0) argument = 0
  end function

end program
