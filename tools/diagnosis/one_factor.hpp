// Whether ranks are longer by one factor in all functions, as on a slow processor, or in one function, by more work there; told by samples.
// Contract: thread-safe (no state); allocates nothing; throws nothing.
//
// Functions that have few samples say little each. Together they may say enough: each explanation is as likely as what was sampled is under it.
#pragma once

#include <span>

namespace libprofile::tools {

/// Means of a function.
struct ComparedFunction {
    double here = 0;  // ns: on the ranks that are longer
    double there = 0; // ns: on the others
    double error = 0; // of the difference: a standard deviation
};

/// How many times as likely the sampled times are with one factor for all as with one function that has the excess; which one is not known, it is
/// as likely as its share of the time. 1: nothing is known. 0: one factor does not fit.
double odds_of_one_factor(std::span<const ComparedFunction> functions);

} // namespace libprofile::tools
