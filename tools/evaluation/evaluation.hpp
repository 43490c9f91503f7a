// Replays compression methods over a recording, and scores what they give back.
// Contract: one thread; allocates in proportion to the iterations and, for one location at a time, to what the method keeps.
// Source: Szebenyi, Wolf, Wylie (SC 2009), section 5.
#pragma once

#include "tools/evaluation/cell_scores.hpp"
#include "tools/evaluation/characteristics.hpp"
#include "tools/evaluation/method.hpp"
#include "tools/evaluation/whole_scores.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A method with its settings, to be tried.
struct Candidate {
    std::string label;          // in tables: "64", "1%"
    std::uint32_t clusters = 0; // K, for the axis of figures
    bool is_reference = true;   // the paper's method
    MethodFactory make;
    MethodFactory without_equivalence; // what phantoms are counted for once more; may be empty
};

/// Time of add().
struct ClusteringTime {
    double mean_ns = 0; // per iteration
    double largest_ns = 0;
    double mean_share = 0;    // all of it, of the time of all iterations
    double largest_share = 0; // of the time of its own iteration
};

/// By location, then iteration.
using LocationSeries = std::vector<std::vector<double>>;

/// How one candidate did.
struct Score {
    std::string name;
    std::string label;
    std::uint32_t clusters = 0;
    bool is_reference = true;
    std::vector<std::string> remarks; // what the method says, each once
    Phantoms phantoms;
    std::optional<Phantoms> phantoms_without_equivalence;
    WholeErrors whole;
    CellErrors cells;
    ClusteringTime time;
    MethodMemory memory;                // sum over locations
    std::vector<LocationSeries> series; // of EvaluationSettings::series, reconstructed
};

struct Evaluation {
    Characteristics characteristics;
    MethodMemory full; // of the recording, sum over locations
    std::vector<Score> scores;
    std::vector<LocationSeries> series; // original
};

struct EvaluationSettings {
    std::vector<std::size_t> series; // catalogue rows whose values are kept for iteration graphs and value maps
    /// Called with the current step and its progress (0 to 1).
    std::function<void(const std::string& what, double done)> progress;
};

Evaluation evaluate(const Recording& recording, const std::vector<Candidate>& candidates, const EvaluationSettings& settings = {});

/// Bytes of the full recording of one location, counted as for the methods.
MethodMemory memory_of_recording(const PathKinds& paths, const RecordedLocation& location);

} // namespace libprofile::tools
