// `libprofile evaluate`: what clustering loses and saves, tried on a full recording.
// Contract: one thread; writes to standard output, progress to standard error when that is a terminal, figures into the
// folder it is given; returns the exit code; throws ReadError, NotRecordedInFull, or PlotError.
#pragma once

#include "libprofile/clustering/clusterer.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// In the order of EquivalenceChoice.
inline constexpr std::array<const char*, 4> equivalence_modes = {"auto", "strong", "weak", "none"};

struct EvaluateOptions {
    std::string path; // the profile's folder
    bool json = false;
    std::string figures;                                             // folder for SVG figures; empty: none
    std::string phase;                                               // empty takes the iterated phase with most time
    std::vector<std::uint32_t> clusters = {8, 16, 32, 64, 128, 256}; // of the reference
    std::vector<double> errors = {0.1, 1, 5};                        // of the bounded method, in %
    std::vector<std::uint32_t> bounded_clusters = {4, 8};            // K to try it with as it is by default; the last one is that of `errors`, too
    EquivalenceChoice equivalence = EquivalenceChoice::Auto;
    int width = 0; // columns; 0 takes those of the terminal, or 100
    bool ascii = false;
};

/// Reads, replays, prints.
int evaluate(const EvaluateOptions& options);

} // namespace libprofile::tools
