// What the reports of a selection and of a comparison share: the nodes to show, their order, and their lines in the source.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/analysis/selected_tree.hpp"
#include "tools/report/choice.hpp"
#include "tools/report/document.hpp"

#include <functional>
#include <string>
#include <vector>

namespace libprofile::tools {

/// The title and the warnings of the job, without measurements.
ReportDocument document_of(const Profile& profile, const ReportChoice& choice);

/// The locations of ranks (all if empty): the main threads, or all threads.
std::vector<const Location*> locations_of(const Profile& profile, const std::vector<std::uint32_t>& ranks, bool all_threads);

/// @throws SelectionError when --path found nothing
void check_path(const ReportChoice& choice, const FunctionTree& tree);

/// A function with any callers, an MPI function by its caller.
struct FunctionRow {
    std::string name;
    std::string caller;  // of MPI functions: the first that is no mere wrapper
    std::string through; // the wrappers between; empty if there are none
    std::string source;
    NodeKind kind = NodeKind::Frame;
    std::vector<std::uint32_t> nodes; // of the tree
};
std::vector<FunctionRow> function_rows(const Profile& profile, const FunctionTree& tree);

/// Nodes in the order of the tree, the children of each by weight, heaviest first.
/// @param weight by node
/// @param most this many heaviest nodes and their ancestors; 0 takes all with weight
std::vector<std::uint32_t> shown_nodes(const FunctionTree& tree, const std::vector<double>& weight, std::size_t most);

/// Sentences about phases inside the chosen iterations.
/// @param side "A" or "B" of a comparison
std::vector<std::string> inside_facts(const SelectedTree& values, const std::string& side = "");

/// "98.3 % of the time is in phases inside, which this profile does not divide by iteration"
std::string untold_words(const SelectedTree& values, const std::string& side = "");

/// "main > solve > MPI_Allreduce".
std::string path_text(const FunctionTree& tree, std::uint32_t node);

/// The name as text shows it.
std::string node_text(const FunctionNode& node);

/// Times: the part of all time that was chosen; other metrics: of their own sum.
/// @param m position of the metric in the values
ReportValue share_of(const SelectedTree& values, const MetricRow& metric, std::size_t m, std::uint64_t value);

/// The label of a metric where the column is about the selection: "time" for its total.
std::string column_label(const MetricRow& metric);

/// The error of a value: what it may be off at most because of coding, and half of the 95 % interval of what samples shared out.
struct ValueError {
    double bound = 0; // negative if unknown
    double sampling = 0;

    /// Empty if unknown.
    ReportValue report_value() const;
};
/// Values of the selection have errors: parts of a phase, and times that samples shared out.
bool may_be_off(const ReportChoice& choice, const MetricRow& metric, const SelectedTree& values);
/// @param all the selection that it is from
ValueError error_of(const SelectedValue& value, const SelectedTree& all);

} // namespace libprofile::tools
