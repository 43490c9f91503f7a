#include "tools/view/selected_columns.hpp"

#include <algorithm>

namespace libprofile::tools {

void SelectedColumns::add(const std::vector<SelectedCell>& cells) {
    for (const SelectedCell& cell : cells)
        entries_.push_back({std::uint64_t{tables_.node_of_path[cell.path]} * tables_.columns + tables_.column_of_metric[cell.metric], cell.value,
                            cell.guessed ? no_bound : cell.bound});
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

} // namespace libprofile::tools
