// lammps_iterations INPUT [STEPS]: runs a LAMMPS input script with one libprofile iteration per STEPS
// timesteps (default 20), with the installed library liblammps.
//
// Each command `run N` of the script is cut into runs of STEPS steps. All but the first skip the set-up,
// which LAMMPS offers for exactly this: the trajectory stays the same. Other commands pass unchanged.
// LAMMPS's own log is switched off, since each short run would repeat its headings; the last state is
// printed, for comparison between runs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <mpi.h>

#define LAMMPS_LIB_MPI
#include <lammps/library.h>

#include <libprofile.hpp>

namespace {

/// The number of steps if the line is a plain `run N`, else 0.
long steps_of_run(const std::string& line) {
    std::istringstream words(line);
    std::string command, rest;
    long steps = 0;
    return (words >> command >> steps) && command == "run" && !(words >> rest) ? steps : 0;
}

void run_in_iterations(void* lammps, long total, long per_iteration) {
    std::string set_up = "";
    for (long done = 0; done < total; done += per_iteration) {
        libprofile::iteration timesteps("timesteps");
        const long steps = total - done < per_iteration ? total - done : per_iteration;
        lammps_command(lammps, ("run " + std::to_string(steps) + set_up + " post no").c_str());
        set_up = " pre no";
    }
}

void run_script(void* lammps, std::istream& script, long per_iteration) {
    std::string line,
        commands; // commands collected up to the next run, as a block because lines may be continued
    while (std::getline(script, line)) {
        const long total = steps_of_run(line);
        if (total == 0) {
            commands += line + "\n";
            continue;
        }
        lammps_commands_string(lammps, commands.c_str());
        commands.clear();
        run_in_iterations(lammps, total, per_iteration);
    }
    lammps_commands_string(lammps, commands.c_str());
}

/// Prints the final state; the mean position represents the trajectory.
void print_state(void* lammps, const char* input) {
    double** positions = static_cast<double**>(lammps_extract_atom(lammps, "x"));
    const int local_atoms = *static_cast<int*>(lammps_extract_global(lammps, "nlocal"));
    double local[3] = {0, 0, 0}, mean[3] = {0, 0, 0};
    for (int atom = 0; atom < local_atoms; ++atom)
        for (int axis = 0; axis < 3; ++axis)
            local[axis] += positions[atom][axis];
    MPI_Reduce(local, mean, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);

    const double atoms = lammps_get_natoms(lammps); // collective
    const auto timesteps =
        static_cast<long>(*static_cast<std::int64_t*>(lammps_extract_global(lammps, "ntimestep")));
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        std::printf("%s: %ld timesteps, %.0f atoms, mean position %.9g %.9g %.9g\n", input, timesteps, atoms,
                    mean[0] / atoms, mean[1] / atoms, mean[2] / atoms);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const long per_iteration = argc > 2 ? std::atol(argv[2]) : 20;
    std::ifstream script(argc > 1 ? argv[1] : "");
    if (!script || per_iteration < 1) {
        std::fprintf(stderr, "usage: %s INPUT [STEPS]\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const char* arguments[] = {"lammps", "-log", "none", "-screen", "none"};
    void* lammps = lammps_open(5, const_cast<char**>(arguments), MPI_COMM_WORLD, nullptr);
    run_script(lammps, script, per_iteration);

    print_state(lammps, argv[1]);
    lammps_close(lammps);
    MPI_Finalize();
}
