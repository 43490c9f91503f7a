// How a time grows with the number of processors: a constant and one term, c0 + c1 p^a log2(p)^b.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
//
// Source: A. Calotoiu, T. Hoefler, M. Poke, F. Wolf, "Using automated performance modeling to find scalability bugs in complex codes" (SC 2013),
// the performance model normal form. Here with one term besides the constant, as five to ten sizes tell no more.
// The exponents are those that predict best, leaving out one size after the other. Where others predict nearly as well, and would say something
// else of four times as many processors, nobody can be sure.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace libprofile::tools {

inline constexpr std::size_t sizes_for_growth = 5;

/// c1 p^a log2(p)^b
struct GrowthTerm {
    double power = 0;
    int logs = 0;
    bool operator==(const GrowthTerm&) const = default;
};

struct GrowthModel {
    double constant = 0, factor = 0; // c0, c1; factor 0: it does not grow
    GrowthTerm term;
    double error = 0; // how far predictions of left out sizes are off: the mean of their shares

    double at(double p) const;
};

struct Growth {
    bool is_known = false;           // there are enough sizes
    GrowthModel best;                // the one that predicts best
    std::vector<GrowthModel> rivals; // that predict nearly as well, and say something else of larger sizes; if there are some: not sure
};

/// @param sizes at least 1, all different  @param values of each, positive
Growth growth_of(std::span<const double> sizes, std::span<const double> values);

/// "p^0.5 log2(p)", "log2(p)^2"; "constant" if it does not grow.
std::string growth_text(const GrowthModel& model);

} // namespace libprofile::tools
