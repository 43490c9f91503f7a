// Other views of a chosen part: functions with their callers, and the source lines of one function.
// Contract: thread-safe (no state); allocate; throw SelectionError if there is nothing to show, std::bad_alloc.
#pragma once

#include "tools/analysis/selected_tree.hpp"
#include "tools/report/choice.hpp"
#include "tools/report/document.hpp"
#include "tools/report/rows.hpp"

#include <vector>

namespace libprofile::tools {

/// What was chosen, and its values.
struct SelectedPart {
    const Profile& profile;
    const ReportChoice& choice;
    const SelectionForm& form;
    const FoundChoice& found;
    const std::vector<MetricRow>& all_rows;
    const std::vector<const Location*>& locations;
    const FunctionTree& tree;
    const SelectedTree& values; // of found.rows

    const MetricRow& metric(std::size_t m) const { return all_rows[found.rows[m]]; }
    bool has_errors() const { return may_be_off(choice, metric(0), values); }
    std::size_t limit(std::size_t of_screen) const { return choice.top != 0 ? choice.top : form.everything ? 0 : of_screen; }
};

/// The table "bottom_up" (docs/json.md).
void add_bottom_up(const SelectedPart& part, ReportDocument& document);

/// The table "lines"; as text one for each file, with its source where it is found. A warning says where it is not.
void add_source(const SelectedPart& part, ReportDocument& document);

} // namespace libprofile::tools
