#include "tools/view/selected_columns.hpp"

#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

void SelectedColumns::add(const std::vector<SelectedCell>& cells) {
    for (const SelectedCell& cell : cells) {
        const bool is_sampled = cell.metric == 0 && !cell.scaled && cell.path != 0 && category_of(profile_, profile_.paths[cell.path]) == TimeCategory::Compute;
        entries_.push_back({std::uint64_t{tables_.node_of_path[cell.path]} * tables_.columns + tables_.column_of_metric[cell.metric], cell.value,
                            is_sampled     ? 0
                            : cell.guessed ? no_bound
                                           : cell.bound});
    }
}

void SelectedColumns::end() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    std::uint64_t count = 0, before = 0;
    for (std::size_t i = 0; i < entries_.size();) {
        Entry sum = entries_[i];
        while (++i < entries_.size() && entries_[i].key == sum.key) {
            sum.value += entries_[i].value;
            sum.bound = add_bounds(sum.bound, entries_[i].bound);
        }
        keys_.add(sum.key - before);
        before = sum.key;
        values_.add(sum.value);
        errors_.add(sum.bound == no_bound ? 0 : sum.bound + 1);
        ++count;
    }
    counts_.add(count);
    entries_.clear();
}

void SampledColumns::add(const SampledSelection& selection) {
    const std::size_t first = strata_.size() - strata_before_;
    strata_.insert(strata_.end(), selection.strata.begin(), selection.strata.end());
    for (const SampledSelection::Part& part : selection.parts) {
        const auto ns = static_cast<std::uint64_t>(std::llround(part.ns));
        if (ns == 0) continue;
        parts_.add(tables_.node_of_path[part.path]);
        parts_.add(first + part.stratum);
        parts_.add(ns);
        ++parts_here_;
    }
}

void SampledColumns::end() {
    counts_.add(strata_.size() - strata_before_);
    counts_.add(parts_here_);
    strata_before_ = strata_.size();
    parts_here_ = 0;
}

} // namespace libprofile::tools
