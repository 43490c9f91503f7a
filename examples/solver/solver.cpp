// solver [STEPS [SIZE]]: implicit heat conduction on SIZE x SIZE cells (default 60 steps, 96 cells), C++ with MPI.
//
// Two nested loops. Each time step assembles its matrix, which changes with the temperature, and solves it by
// conjugate gradients, with an exchange of border rows and two Allreduce per iteration. The length of the time
// step goes up and down, and with it the number of iterations, from about 5 to 40. Every 10th step computes
// statistics on all ranks together.
//
// The printed checksum and number of iterations depend on STEPS and SIZE only: a dot product is the sum of one
// number per row; an Allreduce collects these, and every rank adds them in the same order.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mpi.h>

#include <libprofile.hpp>

namespace {

constexpr int most_iterations = 40;
constexpr int statistics_period = 10;

/// Rows [begin, begin + rows) of a square of cells, with one more row on each side, which belong to the neighbours.
struct Plate {
    int rank = 0, ranks = 1, size = 0, begin = 0, rows = 0;
    int above = MPI_PROC_NULL, below = MPI_PROC_NULL;
    std::vector<double> heat, conductivity, right_side, residual, direction, product;
    std::vector<double> row_sums;

    std::size_t at(int row, int column) const { return static_cast<std::size_t>(row + 1) * size + column; }
};

[[gnu::noinline]] void exchange_rows(const Plate& plate, std::vector<double>& field) {
    MPI_Request requests[4];
    double* const rows = field.data();
    MPI_Irecv(rows, plate.size, MPI_DOUBLE, plate.above, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(rows + plate.at(plate.rows, 0), plate.size, MPI_DOUBLE, plate.below, 2, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(rows + plate.at(0, 0), plate.size, MPI_DOUBLE, plate.above, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(rows + plate.at(plate.rows - 1, 0), plate.size, MPI_DOUBLE, plate.below, 1, MPI_COMM_WORLD,
              &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/// Equal on any number of ranks: each row is summed by its owner, the rows by all ranks.
[[gnu::noinline]] double dot(Plate& plate, const std::vector<double>& a, const std::vector<double>& b) {
    std::fill(plate.row_sums.begin(), plate.row_sums.end(), 0.0);
    for (int row = 0; row < plate.rows; ++row)
        for (int column = 0; column < plate.size; ++column)
            plate.row_sums[plate.begin + row] += a[plate.at(row, column)] * b[plate.at(row, column)];
    MPI_Allreduce(MPI_IN_PLACE, plate.row_sums.data(), plate.size, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double sum = 0.0;
    for (const double row : plate.row_sums)
        sum += row;
    return sum;
}

/// Hot material conducts better. Computing that takes an inner iteration: the hotter, the longer.
[[gnu::noinline]] void assemble(Plate& plate, double time_step) {
    libprofile::phase phase("assemble");
    for (int row = 0; row < plate.rows; ++row)
        for (int column = 0; column < plate.size; ++column) {
            const double heat = plate.heat[plate.at(row, column)];
            double conductivity = 1.0;
            for (int substep = 0; substep < 2 + static_cast<int>(20.0 * heat); ++substep)
                conductivity = 0.5 * (conductivity + (1.0 + heat) / conductivity);
            plate.conductivity[plate.at(row, column)] = time_step * conductivity;
        }
    exchange_rows(plate, plate.conductivity);
}

/// The flow between two cells; no heat leaves the plate.
double exchanged(const Plate& plate, std::size_t a, std::size_t b) {
    return 2.0 * plate.conductivity[a] * plate.conductivity[b] /
           (plate.conductivity[a] + plate.conductivity[b]);
}

/// product = matrix * direction
[[gnu::noinline]] void multiply(Plate& plate, const std::vector<double>& field) {
    const auto flow = [&](std::size_t from, std::size_t to, bool there) {
        return there ? exchanged(plate, from, to) * (field[from] - field[to]) : 0.0;
    };
    for (int row = 0; row < plate.rows; ++row)
        for (int column = 0; column < plate.size; ++column) {
            const std::size_t i = plate.at(row, column);
            const int global = plate.begin + row;
            plate.product[i] =
                field[i] +
                ((flow(i, i - plate.size, global > 0) + flow(i, i + plate.size, global + 1 < plate.size)) +
                 (flow(i, i - 1, column > 0) + flow(i, i + 1, column + 1 < plate.size)));
        }
}

/// One iteration of conjugate gradients; returns the square of the new residual.
[[gnu::noinline]] double improve(Plate& plate, double square) {
    libprofile::iteration iteration("solver");
    exchange_rows(plate, plate.direction);
    multiply(plate, plate.direction);
    const double alpha = square / dot(plate, plate.direction, plate.product);
    for (std::size_t i = plate.at(0, 0); i < plate.at(plate.rows, 0); ++i) {
        plate.heat[i] += alpha * plate.direction[i];
        plate.residual[i] -= alpha * plate.product[i];
    }
    const double next = dot(plate, plate.residual, plate.residual);
    for (std::size_t i = plate.at(0, 0); i < plate.at(plate.rows, 0); ++i)
        plate.direction[i] = plate.residual[i] + next / square * plate.direction[i];
    return next;
}

/// Returns the number of iterations.
[[gnu::noinline]] int solve(Plate& plate) {
    plate.right_side = plate.heat;
    exchange_rows(plate, plate.heat);
    multiply(plate, plate.heat);
    for (std::size_t i = plate.at(0, 0); i < plate.at(plate.rows, 0); ++i)
        plate.direction[i] = plate.residual[i] = plate.right_side[i] - plate.product[i];
    double square = dot(plate, plate.residual, plate.residual);
    const double enough = 1e-12 * dot(plate, plate.right_side, plate.right_side);
    int iterations = 0;
    for (; iterations < most_iterations && square > enough; ++iterations)
        square = improve(plate, square);
    return iterations;
}

[[gnu::noinline]] void ignite(Plate& plate, int step) {
    const double centre = 0.5 * plate.size * (1.0 + 0.7 * std::sin(0.11 * step));
    for (int row = 0; row < plate.rows; ++row)
        for (int column = 0; column < plate.size; ++column) {
            const double dy = plate.begin + row - centre, dx = column - 0.3 * plate.size;
            if (dx * dx + dy * dy < 0.004 * plate.size * plate.size)
                plate.heat[plate.at(row, column)] += 1.0;
        }
}

/// A sum over all cells of their position and content, equal in any order.
[[gnu::noinline]] std::uint64_t statistics(const Plate& plate) {
    std::uint64_t mine[2] = {0, 0}, all[2] = {0, 0};
    for (int row = 0; row < plate.rows; ++row)
        for (int column = 0; column < plate.size; ++column) {
            const auto heat =
                static_cast<std::uint64_t>(std::llround(plate.heat[plate.at(row, column)] * 1e9));
            std::uint64_t h = (plate.begin + row) * std::uint64_t{65536} + column;
            h = (h * 0x9e3779b97f4a7c15u ^ heat) * 0xbf58476d1ce4e5b9u;
            mine[0] += h ^ (h >> 31);
            mine[1] += heat;
        }
    MPI_Reduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return all[0] ^ all[1];
}

[[gnu::noinline]] int advance(Plate& plate, int step) {
    libprofile::iteration iteration("timestep");
    ignite(plate, step);
    const double wave = std::sin(0.21 * step);
    assemble(plate, 0.05 + 4.0 * (wave * wave) * (wave * wave));
    const int iterations = solve(plate);
    if (step % statistics_period == 0)
        statistics(plate);
    return iterations;
}

Plate make_plate(int size) {
    Plate plate;
    plate.size = size;
    MPI_Comm_rank(MPI_COMM_WORLD, &plate.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &plate.ranks);
    plate.begin = size * plate.rank / plate.ranks;
    plate.rows = size * (plate.rank + 1) / plate.ranks - plate.begin;
    plate.above = plate.rank > 0 ? plate.rank - 1 : MPI_PROC_NULL;
    plate.below = plate.rank + 1 < plate.ranks ? plate.rank + 1 : MPI_PROC_NULL;
    for (std::vector<double>* field : {&plate.heat, &plate.conductivity, &plate.right_side, &plate.residual,
                                       &plate.direction, &plate.product})
        field->assign(static_cast<std::size_t>(plate.rows + 2) * size, 0.0);
    plate.row_sums.resize(size);
    return plate;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int steps = argc > 1 ? std::atoi(argv[1]) : 60;
    const int size = argc > 2 ? std::atoi(argv[2]) : 96;
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (steps < 1 || size < ranks) {
        std::fprintf(stderr, "usage: solver [STEPS [SIZE]], at least one row of SIZE for each rank\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    Plate plate = make_plate(size);
    int fewest = most_iterations, most = 0, all = 0;
    for (int step = 1; step <= steps; ++step) {
        const int iterations = advance(plate, step);
        fewest = std::min(fewest, iterations);
        most = std::max(most, iterations);
        all += iterations;
    }
    const std::uint64_t sum = statistics(plate);
    if (plate.rank == 0)
        std::printf("solver: %d steps, size %d, %d iterations, %d to %d per step, checksum %016llX\n", steps,
                    size, all, fewest, most, static_cast<unsigned long long>(sum));
    MPI_Finalize();
}
