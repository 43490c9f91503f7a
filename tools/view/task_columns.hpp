// The OpenMP tasks of chosen parts as columns for the page: creations and dependences, and stretches of execution. Types, own times and what is complete
// are those of the report (task_graph.hpp, task_types.hpp).
// Contract: one thread; n log n; allocates in proportion to the events; throws std::bad_alloc only.
#pragma once

#include "tools/timeline/task_types.hpp"
#include "tools/view/named_columns.hpp"
#include "tools/view/page_tables.hpp"
#include "tools/view/ran_on_column.hpp"
#include "tools/view/task_place_columns.hpp"
#include "tools/view/timeline_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

class TaskColumns {
  public:
    /// Adds the lists "tasks", "dependences" and "runs" to the columns; none if no part has tasks. Tasks are numbered over the page, by the thread that
    /// created them, then time.
    TaskColumns(const Profile& profile, const PageTables& tables, const ChosenParts& parts, NamedColumns& columns);

    struct Counts {
        std::size_t tasks = 0, runs = 0; // creations, and stretches
    };
    /// By location.
    const std::vector<Counts>& counts() const { return counts_; }
    /// Names of types, the one with most time first; empty without tasks.
    nlohmann::ordered_json types() const;

  private:
    struct Rank;
    struct Type {
        std::string function, source;
        std::uint64_t ns = 0;
    };
    void number_types(std::vector<Rank>& ranks);
    void add_tasks(Rank& rank, std::uint32_t location);
    void add_runs(Rank& rank, std::uint32_t location);

    const PageTables& tables_;
    NamedColumns& columns_;
    TaskPlaceColumns places_;
    RanOnColumn ran_on_;
    std::vector<Counts> counts_;
    std::vector<Type> types_;
};

} // namespace libprofile::tools
