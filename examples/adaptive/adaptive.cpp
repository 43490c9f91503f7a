// adaptive [STEPS [SIZE]]: a laser wanders over a SIZE x SIZE plate (default 400 steps, 512 cells), C++ with
// MPI.
//
// Made to be profiled: its behaviour changes from step to step. The rows are divided among the ranks. Heat
// spreads by a number of sweeps that follows the hottest cell. Hot cells radiate; the hotter they are, the more
// substeps they take, so the work gathers under the laser and moves with it from rank to rank. Every 25th step
// divides the rows again by their cost. Every 50th gathers the plate on rank 0, which computes a checksum
// alone.
//
// The printed checksum depends on STEPS and SIZE only: not on time, ranks, MPI or language (adaptive.f90 is
// the same program in Fortran). Each cell is computed by the same operations in the same order, whichever rank
// owns it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <mpi.h>

#include <libprofile.hpp>

namespace {

constexpr int rebalance_period = 25;
constexpr int checkpoint_period = 50;

/// The rows [start[rank], start[rank + 1]) of the plate, with one more row and column on each side.
struct Plate {
    int rank = 0;
    int ranks = 1;
    int size = 0;
    std::vector<int> start;
    std::vector<double> cells;
    std::vector<double> next;
    std::vector<std::int64_t> cost; // of each row, in substeps of the last step

    int rows() const { return start[rank + 1] - start[rank]; }
    int stride() const { return size + 2; }
    double* row(int local) { return cells.data() + static_cast<std::size_t>(local + 1) * stride(); }
};

/// A position between 0.1 and 0.9 of the plate, back and forth.
double triangle_wave(int step, int period) {
    const double phase = static_cast<double>(step % period) / static_cast<double>(period);
    return 0.1 + 0.8 * std::fabs(2.0 * phase - 1.0);
}

[[gnu::noinline]] void heat_by_laser(Plate& plate, int step) {
    const double size = plate.size;
    const double centre_row = size * triangle_wave(step, 240);
    const double centre_column = size * triangle_wave(step, 90);
    const double radius_squared = (size / 14.0) * (size / 14.0);
    for (int local = 0; local < plate.rows(); ++local) {
        double* cells = plate.row(local);
        const double dy = (plate.start[plate.rank] + local) - centre_row;
        for (int column = 1; column <= plate.size; ++column) {
            const double dx = column - centre_column;
            const double distance = (dx * dx + dy * dy) / radius_squared;
            if (distance < 1.0)
                cells[column] = cells[column] + 0.6 * (1.0 - distance);
        }
    }
}

[[gnu::noinline]] void exchange_halo(Plate& plate) {
    const int above = plate.rank > 0 ? plate.rank - 1 : MPI_PROC_NULL;
    const int below = plate.rank + 1 < plate.ranks ? plate.rank + 1 : MPI_PROC_NULL;
    const int count = plate.stride();
    MPI_Request requests[4];
    MPI_Irecv(plate.row(-1), count, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(plate.row(plate.rows()), count, MPI_DOUBLE, below, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(plate.row(0), count, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(plate.row(plate.rows() - 1), count, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

[[gnu::noinline]] void diffuse_rows(Plate& plate) {
    const int stride = plate.stride();
    for (int local = 0; local < plate.rows(); ++local) {
        const double* old = plate.row(local);
        double* result = plate.next.data() + static_cast<std::size_t>(local + 1) * stride;
        for (int column = 1; column <= plate.size; ++column) {
            const double neighbours =
                (old[column - 1] + old[column + 1]) + (old[column - stride] + old[column + stride]);
            result[column] = old[column] + 0.2 * (neighbours - 4.0 * old[column]);
        }
    }
    std::swap(plate.cells, plate.next);
}

/// Heat conduction: an inner loop of 2 to 8 iterations.
[[gnu::noinline]] void spread_heat(Plate& plate, double hottest) {
    libprofile::phase phase("spread");
    const int sweeps = std::min(2 + static_cast<int>(hottest), 8);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        libprofile::iteration iteration("sweep");
        exchange_halo(plate);
        diffuse_rows(plate);
    }
}

/// Radiation of one row, as the fourth power of the temperature; returns the number of substeps taken.
[[gnu::noinline]] std::int64_t radiate_row(double* cells, int size) {
    std::int64_t taken = 0;
    for (int column = 1; column <= size; ++column) {
        double heat = cells[column];
        const int substeps = 1 + std::min(static_cast<int>(heat * 60.0), 120);
        const double factor = 0.02 / substeps;
        for (int substep = 0; substep < substeps; ++substep)
            heat = heat - factor * ((heat * heat) * (heat * heat));
        cells[column] = heat;
        taken += substeps;
    }
    return taken;
}

[[gnu::noinline]] void radiate(Plate& plate) {
    libprofile::phase phase("radiate");
    for (int local = 0; local < plate.rows(); ++local)
        plate.cost[local] = radiate_row(plate.row(local), plate.size);
}

[[gnu::noinline]] double find_hottest(Plate& plate) {
    double mine = 0.0, hottest = 0.0;
    for (int local = 0; local < plate.rows(); ++local)
        mine = std::max(mine, *std::max_element(plate.row(local), plate.row(local) + plate.stride()));
    MPI_Allreduce(&mine, &hottest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return hottest;
}

/// The first rows of all ranks, chosen so that the ranks have equal costs, as far as whole rows allow. No rank is
/// left empty.
std::vector<int> balanced_starts(const std::vector<std::int64_t>& cost, int ranks) {
    const int size = static_cast<int>(cost.size());
    std::int64_t total = 0;
    for (std::int64_t row : cost)
        total += row;
    std::vector<int> start(ranks + 1, 0);
    std::int64_t before = 0;
    int row = 0;
    for (int rank = 1; rank < ranks; ++rank) {
        while (row < size && before * ranks < total * rank)
            before += cost[row++];
        start[rank] = std::max(start[rank - 1] + 1, std::min(row, size - (ranks - rank)));
    }
    start[ranks] = size;
    return start;
}

void allocate_rows(Plate& plate) {
    plate.cells.assign(static_cast<std::size_t>(plate.rows() + 2) * plate.stride(), 0.0);
    plate.next.assign(plate.cells.size(), 0.0);
    plate.cost.assign(plate.rows(), plate.size);
}

/// Sends each row to the rank that owns it according to `start`.
[[gnu::noinline]] void move_rows(Plate& plate, std::vector<int> start) {
    std::vector<int> send(plate.ranks), send_at(plate.ranks), receive(plate.ranks), receive_at(plate.ranks);
    const auto overlap = [](int first, int last, int other_first, int other_last) {
        return std::max(0, std::min(last, other_last) - std::max(first, other_first));
    };
    for (int other = 0, sent = 0, received = 0; other < plate.ranks; ++other) {
        send[other] = plate.stride() * overlap(plate.start[plate.rank], plate.start[plate.rank + 1],
                                               start[other], start[other + 1]);
        receive[other] = plate.stride() * overlap(start[plate.rank], start[plate.rank + 1],
                                                  plate.start[other], plate.start[other + 1]);
        send_at[other] = sent;
        receive_at[other] = received;
        sent += send[other];
        received += receive[other];
    }
    const std::vector<double> old = std::move(plate.cells);
    plate.start = std::move(start);
    allocate_rows(plate);
    MPI_Alltoallv(old.data() + plate.stride(), send.data(), send_at.data(), MPI_DOUBLE, plate.row(0),
                  receive.data(), receive_at.data(), MPI_DOUBLE, MPI_COMM_WORLD);
}

/// Row counts and first rows of all ranks, times `width`.
std::pair<std::vector<int>, std::vector<int>> all_parts(const Plate& plate, int width) {
    std::vector<int> counts(plate.ranks), offsets(plate.ranks);
    for (int rank = 0; rank < plate.ranks; ++rank) {
        counts[rank] = width * (plate.start[rank + 1] - plate.start[rank]);
        offsets[rank] = width * plate.start[rank];
    }
    return {counts, offsets};
}

[[gnu::noinline]] void rebalance(Plate& plate) {
    libprofile::phase phase("rebalance");
    const auto [counts, offsets] = all_parts(plate, 1);
    std::vector<std::int64_t> cost(plate.size);
    MPI_Allgatherv(plate.cost.data(), plate.rows(), MPI_INT64_T, cost.data(), counts.data(), offsets.data(),
                   MPI_INT64_T, MPI_COMM_WORLD);
    move_rows(plate, balanced_starts(cost, plate.ranks));
}

/// CRC-64 of the cells in units of 1e-9, bit by bit.
[[gnu::noinline]] std::uint64_t checksum_of(const std::vector<double>& whole, int size) {
    constexpr std::uint64_t polynomial = 0xC96C5795D7870F42;
    std::uint64_t sum = 0;
    for (int row = 0; row < size; ++row)
        for (int column = 1; column <= size; ++column) {
            const double cell = whole[static_cast<std::size_t>(row) * (size + 2) + column];
            sum ^= static_cast<std::uint64_t>(static_cast<std::int64_t>(cell * 1e9));
            for (int bit = 0; bit < 64; ++bit)
                sum = (sum >> 1) ^ ((sum & 1) != 0 ? polynomial : 0);
        }
    return sum;
}

/// Rank 0 computes, all others wait.
[[gnu::noinline]] std::uint64_t checkpoint(Plate& plate) {
    libprofile::phase phase("checkpoint");
    const auto [counts, offsets] = all_parts(plate, plate.stride());
    std::vector<double> whole(plate.rank == 0 ? static_cast<std::size_t>(plate.size) * plate.stride() : 0);
    MPI_Gatherv(plate.row(0), counts[plate.rank], MPI_DOUBLE, whole.data(), counts.data(), offsets.data(),
                MPI_DOUBLE, 0, MPI_COMM_WORLD);
    std::uint64_t checksum = plate.rank == 0 ? checksum_of(whole, plate.size) : 0;
    MPI_Bcast(&checksum, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    return checksum;
}

[[gnu::noinline]] double advance(Plate& plate, int step, double hottest) {
    libprofile::iteration iteration("timestep");
    heat_by_laser(plate, step);
    spread_heat(plate, hottest);
    radiate(plate);
    if (step % rebalance_period == 0)
        rebalance(plate);
    if (step % checkpoint_period == 0)
        checkpoint(plate);
    return find_hottest(plate);
}

Plate make_plate(int size) {
    Plate plate;
    plate.size = size;
    MPI_Comm_rank(MPI_COMM_WORLD, &plate.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &plate.ranks);
    plate.start = balanced_starts(std::vector<std::int64_t>(size, 1), plate.ranks);
    allocate_rows(plate);
    return plate;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int steps = argc > 1 ? std::atoi(argv[1]) : 400;
    const int size = argc > 2 ? std::atoi(argv[2]) : 512;
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (steps < 1 || size < ranks) {
        std::fprintf(stderr, "usage: adaptive [STEPS [SIZE]], at least one row of SIZE for each rank\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    Plate plate = make_plate(size);
    double hottest = 0.0;
    for (int step = 1; step <= steps; ++step)
        hottest = advance(plate, step, hottest);
    const std::uint64_t checksum = checkpoint(plate);
    if (plate.rank == 0)
        std::printf("adaptive: %d steps, size %d, checksum %016llX\n", steps, size,
                    static_cast<unsigned long long>(checksum));
    MPI_Finalize();
}
