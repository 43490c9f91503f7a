// hydro [STEPS [SIZE]]: a blast wave in a cube of SIZE^3 cells (default 200 steps, 24 cells), C++ with MPI.
//
// Like explicit shock codes: blocks of cells on a grid of px * py * pz ranks, three exchanges of fields per
// step with up to 26 neighbours, one Allreduce for the time step. The blast begins in a corner and travels.
// Cells that it compresses need more substeps of their equation of state, so the work moves from rank to rank.
// Ranks inside the cube have more neighbours than ranks at its walls.
//
// The printed checksum depends on STEPS and SIZE only: each cell is computed by the same operations in the
// same order, whichever rank owns it; the time step is a minimum, and the checksum a sum of integers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mpi.h>

#include <libprofile.hpp>

namespace {

enum Field { density, momentum_x, momentum_y, momentum_z, energy, pressure, sound, fields };
constexpr int conserved = 5; // the first fields
constexpr int report_period = 20;

/// Cells [begin, begin + count) on each axis, with one more on each side, which belong to the neighbours.
struct Block {
    int size = 0, rank = 0, ranks = 1;
    int grid[3] = {0, 0, 0}, position[3] = {0, 0, 0}, begin[3] = {0, 0, 0}, count[3] = {0, 0, 0};
    std::vector<double> cells[fields], next[conserved];
    std::vector<double> outgoing[27], incoming[27];

    std::size_t at(int x, int y, int z) const { // -1 .. count
        return (static_cast<std::size_t>(z + 1) * (count[1] + 2) + (y + 1)) * (count[0] + 2) + (x + 1);
    }
    /// The rank at an offset of -1, 0 or 1 on each axis, or MPI_PROC_NULL outside of the cube.
    int neighbour(const int (&offset)[3]) const {
        int result = 0;
        for (int axis = 2; axis >= 0; --axis) {
            const int there = position[axis] + offset[axis];
            if (there < 0 || there >= grid[axis])
                return MPI_PROC_NULL;
            result = result * grid[axis] + there;
        }
        return result;
    }
    template <class Visit>
    void each_cell(Visit visit) const {
        for (int z = 0; z < count[2]; ++z)
            for (int y = 0; y < count[1]; ++y)
                for (int x = 0; x < count[0]; ++x)
                    visit(at(x, y, z), x, y, z);
    }
};

struct Messages {
    MPI_Request requests[52];
    int count = 0;
    MPI_Request* add() { return &requests[count++]; }
};

/// Calls visit(number, offset, rank) for the neighbours that share a face (1), an edge (2) or a corner (3).
template <int Shared, class Visit>
void each_neighbour(const Block& block, Visit visit) {
    for (int number = 0; number < 27; ++number) {
        const int offset[3] = {number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1};
        const int rank = block.neighbour(offset);
        if (std::abs(offset[0]) + std::abs(offset[1]) + std::abs(offset[2]) == Shared &&
            rank != MPI_PROC_NULL)
            visit(number, offset, rank);
    }
}

/// Calls visit(index) for the cells next to a neighbour: our own, or with `theirs` the neighbour's.
template <class Visit>
void each_shared_cell(const Block& block, const int (&offset)[3], bool theirs, Visit visit) {
    int first[3], last[3];
    for (int axis = 0; axis < 3; ++axis) {
        const int n = block.count[axis];
        first[axis] = offset[axis] > 0 ? (theirs ? n : n - 1) : offset[axis] < 0 && theirs ? -1 : 0;
        last[axis] = offset[axis] == 0 ? n - 1 : first[axis];
    }
    for (int z = first[2]; z <= last[2]; ++z)
        for (int y = first[1]; y <= last[1]; ++y)
            for (int x = first[0]; x <= last[0]; ++x)
                visit(block.at(x, y, z));
}

template <int Shared>
[[gnu::noinline]] void receive_shared(Block& block, int from, int to, Messages& messages) {
    each_neighbour<Shared>(block, [&](int number, const int(&offset)[3], int rank) {
        std::size_t size = 0;
        each_shared_cell(block, offset, true, [&](std::size_t) { size += to - from; });
        block.incoming[number].resize(size);
        MPI_Irecv(block.incoming[number].data(), static_cast<int>(size), MPI_DOUBLE, rank, 26 - number,
                  MPI_COMM_WORLD, messages.add());
    });
}

template <int Shared>
[[gnu::noinline]] void send_shared(Block& block, int from, int to, Messages& messages) {
    each_neighbour<Shared>(block, [&](int number, const int(&offset)[3], int rank) {
        std::vector<double>& buffer = block.outgoing[number];
        buffer.clear();
        for (int field = from; field < to; ++field)
            each_shared_cell(block, offset, false,
                             [&](std::size_t i) { buffer.push_back(block.cells[field][i]); });
        MPI_Isend(buffer.data(), static_cast<int>(buffer.size()), MPI_DOUBLE, rank, number, MPI_COMM_WORLD,
                  messages.add());
    });
}

template <int Shared>
void unpack_shared(Block& block, int from, int to) {
    each_neighbour<Shared>(block, [&](int number, const int(&offset)[3], int) {
        const double* next = block.incoming[number].data();
        for (int field = from; field < to; ++field)
            each_shared_cell(block, offset, true, [&](std::size_t i) { block.cells[field][i] = *next++; });
    });
}

/// Cells outside of the cube get the values at its wall.
void continue_walls(Block& block, int from, int to) {
    const auto inside = [&](int axis, int i) {
        const bool is_outside = (i < 0 && block.position[axis] == 0) ||
                                (i == block.count[axis] && block.position[axis] == block.grid[axis] - 1);
        return is_outside ? std::clamp(i, 0, block.count[axis] - 1) : i;
    };
    for (int field = from; field < to; ++field)
        for (int z = -1; z <= block.count[2]; ++z)
            for (int y = -1; y <= block.count[1]; ++y)
                for (int x = -1; x <= block.count[0]; ++x)
                    block.cells[field][block.at(x, y, z)] =
                        block.cells[field][block.at(inside(0, x), inside(1, y), inside(2, z))];
}

void exchange(Block& block, int from, int to) {
    Messages messages;
    receive_shared<1>(block, from, to, messages);
    receive_shared<2>(block, from, to, messages);
    receive_shared<3>(block, from, to, messages);
    send_shared<1>(block, from, to, messages);
    send_shared<2>(block, from, to, messages);
    send_shared<3>(block, from, to, messages);
    MPI_Waitall(messages.count, messages.requests, MPI_STATUSES_IGNORE);
    unpack_shared<1>(block, from, to);
    unpack_shared<2>(block, from, to);
    unpack_shared<3>(block, from, to);
    continue_walls(block, from, to);
}

[[gnu::noinline]] void exchange_state(Block& block) {
    exchange(block, 0, conserved);
}
[[gnu::noinline]] void exchange_pressure(Block& block) {
    exchange(block, pressure, fields);
}
[[gnu::noinline]] void exchange_fluxes(Block& block) {
    exchange(block, 0, conserved);
}

/// Pressure and speed of sound. Hot gas radiates: the more energy a cell has, the more Newton steps it takes.
[[gnu::noinline]] void equation_of_state(Block& block) {
    block.each_cell([&](std::size_t i, int, int, int) {
        const double mass = block.cells[density][i];
        double square = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            square += block.cells[momentum_x + axis][i] * block.cells[momentum_x + axis][i];
        const double heat = std::max(block.cells[energy][i] - 0.5 * square / mass, 1e-6) / mass;
        double temperature = heat;
        const int substeps = 2 + std::min(static_cast<int>(600.0 * heat), 400);
        for (int substep = 0; substep < substeps; ++substep) {
            const double cube = temperature * temperature * temperature;
            temperature -= (temperature + 0.01 * cube * temperature - heat) / (1.0 + 0.04 * cube);
        }
        block.cells[pressure][i] = 0.4 * mass * temperature;
        block.cells[sound][i] = std::sqrt(0.56 * temperature) + std::sqrt(square) / mass;
    });
}

[[gnu::noinline]] double longest_step(const Block& block) {
    double mine = 0.05, shortest = 0.0;
    block.each_cell(
        [&](std::size_t i, int, int, int) { mine = std::min(mine, 0.15 / block.cells[sound][i]); });
    MPI_Allreduce(&mine, &shortest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    return shortest;
}

/// Rusanov's flux of a field through the wall between the cells left and right.
double flux(const Block& block, int field, int axis, std::size_t left, std::size_t right) {
    const auto one_side = [&](std::size_t i) {
        const double speed = block.cells[momentum_x + axis][i] / block.cells[density][i];
        const double pushed = field == momentum_x + axis ? block.cells[pressure][i]
                              : field == energy          ? block.cells[pressure][i] * speed
                                                         : 0.0;
        return block.cells[field][i] * speed + pushed;
    };
    const double fastest = std::max(block.cells[sound][left], block.cells[sound][right]);
    return 0.5 * (one_side(left) + one_side(right)) -
           0.5 * fastest * (block.cells[field][right] - block.cells[field][left]);
}

[[gnu::noinline]] void move_gas(Block& block, double time_step) {
    const std::size_t stride[3] = {1, block.at(0, 1, 0) - block.at(0, 0, 0),
                                   block.at(0, 0, 1) - block.at(0, 0, 0)};
    block.each_cell([&](std::size_t i, int, int, int) {
        for (int field = 0; field < conserved; ++field) {
            double change = 0.0;
            for (int axis = 0; axis < 3; ++axis)
                change += flux(block, field, axis, i - stride[axis], i) -
                          flux(block, field, axis, i, i + stride[axis]);
            block.next[field][i] = block.cells[field][i] + time_step * change;
        }
    });
    for (int field = 0; field < conserved; ++field)
        block.cells[field].swap(block.next[field]);
}

/// Adds a little of the mean of the 27 cells around, against ripples along the axes.
[[gnu::noinline]] void smooth(Block& block) {
    for (int field = 0; field < conserved; ++field) {
        block.each_cell([&](std::size_t i, int x, int y, int z) {
            double sum = 0.0;
            for (int number = 0; number < 27; ++number)
                sum += block.cells[field]
                                  [block.at(x + number % 3 - 1, y + number / 3 % 3 - 1, z + number / 9 - 1)];
            block.next[field][i] = 0.98 * block.cells[field][i] + 0.02 * (sum / 27.0);
        });
        block.cells[field].swap(block.next[field]);
    }
}

/// A sum over all cells of their position and content, equal in any order.
[[gnu::noinline]] std::uint64_t checksum(const Block& block) {
    std::uint64_t mine = 0, sum = 0;
    block.each_cell([&](std::size_t i, int x, int y, int z) {
        std::uint64_t h =
            ((block.begin[2] + z) * std::uint64_t{4096} + block.begin[1] + y) * 4096 + block.begin[0] + x;
        for (int field = 0; field < conserved; ++field)
            h = (h ^ static_cast<std::uint64_t>(std::llround(block.cells[field][i] * 1e9))) *
                0x9e3779b97f4a7c15u;
        mine += h ^ (h >> 31);
    });
    MPI_Reduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return sum;
}

[[gnu::noinline]] void advance(Block& block, int step) {
    libprofile::iteration iteration("timestep");
    exchange_state(block);
    equation_of_state(block);
    exchange_pressure(block);
    move_gas(block, longest_step(block));
    exchange_fluxes(block);
    smooth(block);
    if (step % report_period == 0)
        checksum(block);
}

/// Cold gas at rest, except for a hot corner.
Block make_block(int size) {
    Block block;
    block.size = size;
    MPI_Comm_rank(MPI_COMM_WORLD, &block.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &block.ranks);
    MPI_Dims_create(block.ranks, 3, block.grid);
    for (int axis = 0, rest = block.rank; axis < 3; ++axis) {
        if (size < block.grid[axis])
            MPI_Abort(MPI_COMM_WORLD, 2);
        block.position[axis] = rest % block.grid[axis];
        rest /= block.grid[axis];
        block.begin[axis] = size * block.position[axis] / block.grid[axis];
        block.count[axis] = size * (block.position[axis] + 1) / block.grid[axis] - block.begin[axis];
    }
    for (int field = 0; field < fields; ++field)
        block.cells[field].assign(block.at(block.count[0], block.count[1], block.count[2]) + 1,
                                  field == density  ? 1.0
                                  : field == energy ? 0.01
                                                    : 0.0);
    for (int field = 0; field < conserved; ++field)
        block.next[field] = block.cells[field];
    block.each_cell([&](std::size_t i, int x, int y, int z) {
        if (block.begin[0] + x + block.begin[1] + y + block.begin[2] + z < 4)
            block.cells[energy][i] = 40.0;
    });
    return block;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int steps = argc > 1 ? std::atoi(argv[1]) : 200;
    const int size = argc > 2 ? std::atoi(argv[2]) : 24;
    if (steps < 1 || size < 1) {
        std::fprintf(stderr,
                     "usage: hydro [STEPS [SIZE]], at least one cell of SIZE for each rank on an axis\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    Block block = make_block(size);
    for (int step = 1; step <= steps; ++step)
        advance(block, step);
    const std::uint64_t sum = checksum(block);
    if (block.rank == 0)
        std::printf("hydro: %d steps, size %d, checksum %016llX\n", steps, size,
                    static_cast<unsigned long long>(sum));
    MPI_Finalize();
}
