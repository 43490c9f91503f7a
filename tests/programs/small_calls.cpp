// small_calls [STEPS [CELLS]]: a shock tube in the style of many C++ codes. Every access and every formula is a function, so that a step makes
// tens of small calls per cell. Prints the steps and the sum of the energy, which only depend on the arguments. It is compiled without and
// with instrumentation (libprofile-c++); both must print the same.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace tube {

template <class T> struct State {
    T density{}, momentum{}, energy{};
    T velocity() const { return momentum / density; }
    T kinetic() const { return T(0.5) * momentum * velocity(); }
};

class Gas {
  public:
    explicit Gas(double gamma) : gamma_(gamma) {}
    double pressure(const State<double>& s) const { return (gamma_ - 1) * (s.energy - s.kinetic()); }
    double sound(const State<double>& s) const { return std::sqrt(gamma_ * pressure(s) / s.density); }

  private:
    double gamma_;
};

class Grid {
  public:
    explicit Grid(int cells) : cells_(static_cast<std::size_t>(cells) + 2) {}
    int size() const { return static_cast<int>(cells_.size()) - 2; }
    State<double>& operator[](int i) { return cells_[static_cast<std::size_t>(i) + 1]; }
    const State<double>& operator[](int i) const { return cells_[static_cast<std::size_t>(i) + 1]; }

  private:
    std::vector<State<double>> cells_;
};

double largest(double a, double b) { return a < b ? b : a; }

State<double> flux(const Gas& gas, const State<double>& s) {
    const double p = gas.pressure(s);
    return {s.momentum, s.momentum * s.velocity() + p, (s.energy + p) * s.velocity()};
}

double fastest(const Gas& gas, const State<double>& s) { return std::fabs(s.velocity()) + gas.sound(s); }

State<double> interface(const Gas& gas, const State<double>& l, const State<double>& r) {
    const State<double> fl = flux(gas, l), fr = flux(gas, r);
    const double a = largest(fastest(gas, l), fastest(gas, r));
    return {0.5 * (fl.density + fr.density - a * (r.density - l.density)), 0.5 * (fl.momentum + fr.momentum - a * (r.momentum - l.momentum)),
            0.5 * (fl.energy + fr.energy - a * (r.energy - l.energy))};
}

void exchange(Grid& grid, int rank, int ranks) {
    const int left = rank == 0 ? MPI_PROC_NULL : rank - 1, right = rank + 1 == ranks ? MPI_PROC_NULL : rank + 1;
    MPI_Sendrecv(&grid[0], 3, MPI_DOUBLE, left, 0, &grid[grid.size()], 3, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&grid[grid.size() - 1], 3, MPI_DOUBLE, right, 1, &grid[-1], 3, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0) grid[-1] = grid[0];
    if (rank + 1 == ranks) grid[grid.size()] = grid[grid.size() - 1];
}

double time_step(const Gas& gas, const Grid& grid) {
    double speed = 0, all = 0;
    for (int i = 0; i < grid.size(); ++i) speed = largest(speed, fastest(gas, grid[i]));
    MPI_Allreduce(&speed, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return 0.4 / all;
}

void update(const Gas& gas, Grid& grid, std::vector<State<double>>& fluxes, double dt) {
    for (int i = 0; i <= grid.size(); ++i) fluxes[static_cast<std::size_t>(i)] = interface(gas, grid[i - 1], grid[i]);
    for (int i = 0; i < grid.size(); ++i) {
        const State<double>&in = fluxes[static_cast<std::size_t>(i)], &out = fluxes[static_cast<std::size_t>(i) + 1];
        grid[i].density += dt * (in.density - out.density);
        grid[i].momentum += dt * (in.momentum - out.momentum);
        grid[i].energy += dt * (in.energy - out.energy);
    }
}

double total_energy(const Grid& grid) {
    double sum = 0, all = 0;
    for (int i = 0; i < grid.size(); ++i) sum += grid[i].energy;
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

} // namespace tube

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int steps = argc > 1 ? std::atoi(argv[1]) : 20, cells = argc > 2 ? std::atoi(argv[2]) : 20000;
    const tube::Gas gas(1.4);
    tube::Grid grid(cells);
    for (int i = 0; i < cells; ++i) grid[i] = {rank * 2 < ranks ? 1.0 : 0.125, 0.0, rank * 2 < ranks && i * 2 < cells ? 2.5 : 0.25};
    std::vector<tube::State<double>> fluxes(static_cast<std::size_t>(cells) + 1);
    for (int step = 0; step < steps; ++step) {
        tube::exchange(grid, rank, ranks);
        tube::update(gas, grid, fluxes, tube::time_step(gas, grid));
    }
    const double energy = tube::total_energy(grid);
    if (rank == 0) std::printf("%d steps, energy %.6f\n", steps, energy);
    MPI_Finalize();
}
