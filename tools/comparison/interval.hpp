// Whether two groups of runs differ beyond chance.
// Contract: thread-safe (no state); allocates nothing; throws nothing.
//
// Chance is of two sorts: runs of one program take different times, which repetitions show, and times that samples shared out are estimates,
// whose error follows from the number of samples. The larger of the two counts, since what repetitions show has the samples' part in it.
#pragma once

#include <cstddef>
#include <span>

namespace libprofile::tools {

/// One quantity of one run.
struct RunValue {
    double value = 0;
    double error = 0; // half of the 95 % interval that samples leave; 0: exact; NaN: unknown
};

/// A quantity of a group of runs, and how it differs from that of another group.
struct Change {
    double before = 0, after = 0; // means over runs
    double error = 0;             // half of the 95 % interval of the difference; 0: nothing speaks for one; NaN: unknown

    double difference() const { return after - before; }
    /// Chance is known to make differences as large as this one.
    bool is_chance() const { return error > 0 && (after > before ? after - before : before - after) <= error; }
    /// The limit itself is within it: 29 % of 100 are 29, though 0.29 * 100 is less in binary.
    bool is_growth_above(double percent) const { return !is_chance() && 100 * difference() > percent * before; }
};

/// The difference of two groups' means with its 95 % interval. Of a group with a single run, the other's spread is taken to hold, too.
/// Source: B. L. Welch, "The generalization of 'Student's' problem when several different population variances are involved", Biometrika 34 (1947).
Change change_between(std::span<const RunValue> before, std::span<const RunValue> after);

/// The 97.5 % point of Student's distribution, for at least one degree of freedom, also between whole numbers.
double student_t(double degrees);

/// The largest less the smallest.
double spread_of_runs(std::span<const RunValue> values);

} // namespace libprofile::tools
