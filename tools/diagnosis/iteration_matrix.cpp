#include "tools/diagnosis/iteration_matrix.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/iteration_values.hpp"
#include "tools/analysis/loop_ranks.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/diagnosis/own_work.hpp"

#include <algorithm>
#include <atomic>

namespace libprofile::tools {

namespace {

using enum CatalogueId;

double value(const MetricValues& values, CatalogueId id) { return static_cast<double>(values[static_cast<std::size_t>(id)]); }

/// Adds the values of an iteration, or of what lies inside it.
void add_values(IterationMatrix& matrix, std::size_t rank, std::size_t column, const MetricValues& v) {
    const auto add = [&](IterationPart part, double more) { matrix.at(part, rank, column) += static_cast<float>(more); };
    add(IterationPart::Local, static_cast<double>(computing_of(v)) + value(v, OffCpu) + value(v, MpiFileIo) + value(v, OpenMp));
    add(IterationPart::Mpi, std::max(0.0, value(v, Mpi) - value(v, MpiFileIo)));
    add(IterationPart::CollectiveCalls, value(v, CollComms) + value(v, CollSyncs));
}

/// What MPI functions do without other ranks is no time in MPI.
void move_own_work(IterationMatrix& matrix, std::size_t rank, std::size_t column, double ns) {
    matrix.at(IterationPart::Local, rank, column) += static_cast<float>(ns);
    float& mpi = matrix.at(IterationPart::Mpi, rank, column);
    mpi = std::max(0.0f, mpi - static_cast<float>(ns));
}

/// Returns false if some iterations got means.
bool fill_row(const Profile& profile, const PhaseData& data, IterationMatrix& matrix, std::size_t rank) {
    const Location& location = *matrix.locations[rank];
    IterationValues values(profile, location, data);
    values.begin_with(matrix.first);
    bool is_exact = true;
    for (std::size_t column = 0; column < matrix.iterations() && values.next(); ++column) {
        values.for_each([&](const MetricValues& v) { add_values(matrix, rank, column, v); });
        is_exact = is_exact && values.is_exact();
        // Nothing but the time of what is untold is known; it counts as computing, so that sums stay those of the iteration.
        matrix.at(IterationPart::Local, rank, column) += static_cast<float>(values.untold());
    }
    const std::vector<double> own = own_work_in_mpi(profile, location, data, matrix.first, matrix.iterations());
    for (std::size_t column = 0; column < own.size(); ++column) move_own_work(matrix, rank, column, own[column]);
    return is_exact;
}

} // namespace

IterationMatrix iteration_matrix(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase, IterationRange range) {
    LoopRanks ranks = loop_ranks(locations, phase);
    const std::uint64_t iterations = ranks.fewest;
    const std::uint64_t first = std::min(range.first, iterations), end = range.last >= iterations ? iterations : range.last + 1;
    IterationMatrix matrix(ranks.locations.size(), std::max(first, end) - first);
    matrix.locations = std::move(ranks.locations);
    matrix.fewest = ranks.fewest;
    matrix.most = ranks.most;
    matrix.phase = phase;
    matrix.first = first;
    std::atomic<bool> is_exact = true;
    in_parallel(matrix.ranks(), [&](std::size_t r) {
        if (!fill_row(profile, *find_phase(matrix.locations[r], phase), matrix, r)) is_exact = false;
    });
    matrix.is_estimated = !is_exact;
    return matrix;
}

IterationMatrix whole_run_matrix(const Profile& profile, const std::vector<const Location*>& locations) {
    std::vector<const Location*> rows;
    std::copy_if(locations.begin(), locations.end(), std::back_inserter(rows), [](const Location* location) { return location != nullptr; });
    IterationMatrix matrix(rows.size(), 1);
    matrix.locations = rows;
    matrix.is_whole_run = true;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const MetricValues values = totals(profile, *rows[r]); // waiting at the end of MPI is waiting, too
        add_values(matrix, r, 0, values);
        move_own_work(matrix, r, 0, own_work_in_mpi(profile, *rows[r]));
    }
    return matrix;
}

} // namespace libprofile::tools
