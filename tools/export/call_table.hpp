// What an export writes: one call tree, the threads it was measured on, and exclusive values of chosen metrics.
// Contract: plain data; built once, then only read; allocates; make_call_table throws ExportError and std::bad_alloc.
//
// Nodes of the tree are functions: what several lines of one function did is one node, unless the lines are asked for. All
// values are integers as the profile has them (times in ns), so sums over a table are the report's sums.
#pragma once

#include "tools/analysis/sample_strata.hpp"
#include "tools/analysis/selection.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/timeline/event_filter.hpp"

#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace libprofile::tools {

/// An export cannot be made; what() is one sentence for the user that says what to do instead.
struct ExportError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a node of the table stands for.
enum class TableNode : std::uint8_t { Program, Phase, Iterations, Function, Inlined, Mpi, OpenMp, Other };

constexpr const char* name_of(TableNode kind) {
    constexpr const char* names[] = {"program", "phase", "iterations", "function", "inlined", "mpi", "openmp", "other"};
    static_assert(std::size(names) == static_cast<std::size_t>(TableNode::Other) + 1);
    return names[static_cast<std::size_t>(kind)];
}

struct CallTable {
    struct Node {
        std::uint32_t parent = 0; // its number; smaller than the node's own
        TableNode kind = TableNode::Function;
        std::string name;
        std::string file;       // empty if unknown
        std::uint64_t line = 0; // 0 if unknown; the line with most time
        std::string module;     // path; empty: none
    };
    struct Location {
        std::uint32_t rank = 0;
        std::uint32_t thread = 0;
        std::string host;
        std::uint64_t pid = 0;
    };
    struct Value {
        std::uint32_t node = 0;
        std::uint32_t metric = 0; // index into `metrics`
        std::uint64_t value = 0;  // exclusive
        bool estimated = false;   // see tools/analysis/selection.hpp
    };

    /// What is known of the errors of a location's times.
    struct Sampled {
        std::vector<SampleStratum> strata;
        std::vector<SampledParts> parts; // by node
        std::vector<bool> is_unknown;    // by node: part of it is of a phase that has one profile for the whole run
    };

    /// Node 0 is the program; what has no call path is with it. Sorted by call path, whatever was chosen.
    std::vector<Node> nodes;
    std::vector<Location> locations;
    std::vector<MetricRow> metrics;          // of metric_rows, some of them; never empty
    std::vector<std::vector<Value>> values;  // by location; sorted by node, then metric; none is 0
    std::vector<Sampled> sampled;            // by location, if asked for
    bool estimated = false;                  // some value is
    std::vector<std::uint32_t> node_of_path; // by call path of the profile; 0 where nothing was chosen; not with instances
    std::uint64_t untold = 0;                // ns of the program's own: in phases inside, of which nothing else is known (tools/analysis/inside.hpp)
    std::string scope;                       // what was selected, in words: "iterations 1-100 of timestep"; empty: all

    /// From the outermost below the program to the node itself.
    std::vector<std::uint32_t> path_to(std::uint32_t node) const;
    /// The values of one metric at one location, by node.
    std::vector<std::uint64_t> exclusive(std::size_t location, std::size_t metric) const;
    /// The same with those of all nodes below added.
    std::vector<std::uint64_t> inclusive(std::size_t location, std::size_t metric) const;
    /// Half of the 95 % interval of the times of one location, by node, in ns; 0 where no sample is part of it, NaN where it is unknown.
    std::vector<double> errors(std::size_t location, bool inclusive) const;
    /// Summed over locations, by node.
    std::vector<std::uint64_t> exclusive_everywhere(std::size_t metric) const;
};

struct TableChoice;
/// Makes a table where it does not come from the profile: from one of another tool.
using TableSource = std::function<CallTable(const TableChoice&)>;

/// What goes into a table.
struct TableChoice {
    std::string phase;                        // name; with has_phase or iterations
    bool has_phase = false;                   // if false: all phases, or with iterations the one with most time
    std::optional<IterationRange> iterations; // of one phase
    std::vector<IterationRange> parts;        // if not empty: only these of `iterations`, in ascending order; not with instances
    bool exclusive = false;                   // iterations without the phases inside them
    std::vector<std::uint32_t> ranks;         // sorted; empty: all
    std::vector<std::string> metrics;         // names of metric_rows; empty: a useful choice; "all"
    bool by_line = false;                     // a node for each line of a function
    bool with_errors = false;                 // fills in CallTable::sampled; not with instances
    EventFilter events;                       // for formats of kept events
    bool short_names = false;                 // C++ functions without parameters and template arguments
    /// If not 0, phases are nodes, each below its function (phase_nodes.hpp), and below those with iterations there are at
    /// most so many nodes for iterations, each for as many consecutive ones as that takes.
    std::uint32_t instances = 0;
    TableSource source = {}; // empty: the profile
};

inline constexpr const char* nothing_measured = "nothing was measured in what was chosen; choose other iterations, ranks or metrics";

/// @throws ExportError when the choice selects nothing or names what is not there
CallTable make_call_table(const Profile& profile, const TableChoice& choice);

/// The chosen rows of metric_rows.
/// @throws ExportError when one is not there
std::vector<std::size_t> rows_of_choice(const Profile& profile, const TableChoice& choice);
/// @param sums of all locations
std::vector<std::size_t> rows_of_choice(const Profile& profile, const TableChoice& choice, const MetricValues& sums);

/// The phase that iterations are chosen from: the named one, else the one with iterations that has most time.
/// @throws ExportError when there is none
std::uint32_t phase_of_choice(const Profile& profile, const TableChoice& choice);

/// The locations of the chosen ranks.
/// @throws ExportError when there are none
std::vector<const Location*> locations_of_choice(const Profile& profile, const TableChoice& choice);

} // namespace libprofile::tools
