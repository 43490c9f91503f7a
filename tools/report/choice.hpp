// The choices of a user of `libprofile report`: which part of a profile, compared to which, in which form.
// Contract: plain data and functions without state; allocate; throw what they say.
#pragma once

#include "tools/analysis/selection.hpp"
#include "tools/names/source_text.hpp"
#include "tools/reader/reader.hpp"
#include "tools/timeline/event_filter.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace libprofile::tools {

/// The choice does not fit the profile; what() is one sentence that says what the profile has.
struct SelectionError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One of the two sides of --compare.
struct CompareSide {
    enum class Kind : std::uint8_t { Iterations, Ranks, Rest };
    Kind kind = Kind::Iterations;
    IterationRange iterations;
    std::vector<std::uint32_t> ranks; // sorted
};

struct ReportChoice {
    std::optional<std::string> phase;
    std::vector<std::string> metrics;
    std::vector<std::uint32_t> ranks; // sorted
    std::string path;
    std::size_t top = 0; // 0 shows as many as fit a screen, or all
    std::optional<IterationRange> iterations;
    std::vector<CompareSide> compare; // none or two, of the same kind but for Rest
    bool threads = false;             // of all threads, not only the main ones
    bool exclusive = false;           // iterations without the phases inside them
    bool bottom_up = false;           // functions with their callers instead of call paths
    std::string source;               // the lines of this function instead
    bool tasks = false;               // the graph of OpenMP tasks instead
    bool machine = false;             // the machines as hwloc saw them instead
    bool correlations = false;        // how durations of calls go with their bytes instead
    EventFilter events;               // of these two

    /// Returns true for the whole profile: nothing was chosen.
    bool is_whole() const;
    bool has_iterations() const;
    bool compares_ranks() const { return !compare.empty() && compare[0].kind == CompareSide::Kind::Ranks; }
};

/// How the report is to be made.
struct SelectionForm {
    bool everything = false; // for programs: all rows, all call paths, unless the choice has a number
    bool full_paths = false; // every frame of an interpreter
    std::string folder;      // of the profile, for hints
    std::vector<SourceMap> source_maps = {};
};

/// "first:last", counted from 1; the result counts from 0. Empty if it is no range.
std::optional<IterationRange> parse_iterations(std::string_view text);

/// A side as it is written: "1:100", "rank=3,8-15" or "rest".
/// @throws SelectionError
CompareSide parse_side(const std::string& text);

/// Checks that the choices fit together: two sides of one kind, no --iterations with a comparison of iterations.
/// @throws SelectionError
void check(const ReportChoice& choice);

/// A choice applied to a profile.
struct FoundChoice {
    static constexpr std::uint32_t all_phases = 0xffffffffu;
    std::uint32_t phase = all_phases;
    std::uint64_t iterations = 0;  // of the phase, on the rank that has most
    std::vector<std::size_t> rows; // of metric_rows
};

/// Reads only what the choice needs, if the files allow that.
/// @throws ReadError; SelectionError if the choice names something that the profile lacks
Profile read_chosen(const std::filesystem::path& path, const ReportChoice& choice);

/// @throws SelectionError if the choice names something that the profile lacks; it tells the nearest name or the range
FoundChoice find_choice(const Profile& profile, const ReportChoice& choice);

/// "ranks 0-3, iterations 1-100 of "timestep""; empty for the whole profile.
std::string scope_of(const Profile& profile, const ReportChoice& choice, const FoundChoice& found);
/// The scope of one side of a comparison.
std::string scope_of(const CompareSide& side, const CompareSide& other, const FoundChoice& found);

} // namespace libprofile::tools
