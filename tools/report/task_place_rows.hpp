// The tables of `libprofile report --tasks` about NUMA nodes: their columns, and cells of rows.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/report/document.hpp"
#include "tools/timeline/task_places.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// How many accesses are remote, of those whose nodes are known. Nothing if there are no accesses.
ReportValue remote_share(const TaskPlaces::Sums& sums);

/// How far from a task its data are in the mean, relative to memory of its own node. Nothing if there are no accesses.
ReportValue mean_distance(const TaskPlaces::Sums& sums);

/// Nodes of tasks and of data: reads, writes, share of the accesses in them.
std::vector<ReportColumn> node_columns();
std::vector<std::vector<ReportValue>> node_rows(const TaskPlaces& places);

/// Threads: accesses of their tasks.
std::vector<ReportColumn> access_columns();
std::vector<std::vector<ReportValue>> access_rows(const Profile& profile, const TaskPlaces& places);

/// What is remote, one sentence; none if that is little, or there is one node.
std::vector<std::string> place_sentences(const TaskPlaces& places);
/// Which pages are not known, and why, one sentence each; none on a machine with one node.
std::vector<std::string> missing_pages(const RankInfo& rank, const std::string& where);

} // namespace libprofile::tools
