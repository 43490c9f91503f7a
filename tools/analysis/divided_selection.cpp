// Parts of a selection that add up to the selection: see selection.hpp.
#include "tools/analysis/selection.hpp"

#include "tools/analysis/cell_groups.hpp"
#include "tools/analysis/fit_margins.hpp"

#include <algorithm>
#include <map>

namespace libprofile::tools {

namespace {

using CellKey = std::pair<std::uint32_t, std::uint32_t>; // call path, metric

/// One group of cells: a table of parts and keys.
struct FittedGroup {
    std::vector<TableCell> cells;
    Margins margins;
    std::vector<CellKey> keys; // by column
    std::map<CellKey, std::uint32_t> columns;

    std::uint32_t column(const CellKey& key) {
        const auto [entry, is_new] = columns.try_emplace(key, static_cast<std::uint32_t>(keys.size()));
        if (is_new) {
            keys.push_back(key);
            margins.columns.push_back(0);
        }
        return entry->second;
    }
};

/// Puts the fitted values into the parts.
void take_fitted(const FittedGroup& group, std::vector<std::map<CellKey, SelectedCell>>& parts) {
    std::vector<std::map<CellKey, std::uint64_t>> fitted(parts.size());
    for (const TableCell& cell : fit_margins(group.cells, group.margins)) fitted[cell.row][group.keys[cell.column]] += cell.value;
    for (std::size_t r = 0; r < parts.size(); ++r)
        for (const auto& [key, value] : fitted[r]) {
            SelectedCell& cell = parts[r].try_emplace(key, SelectedCell{key.first, key.second, 0, true, no_bound, true}).first->second;
            if (cell.value == value) continue;
            const std::uint64_t moved = value > cell.value ? value - cell.value : cell.value - value;
            cell.value = value;
            cell.bound = add_bounds(cell.bound, moved);
            cell.estimated = true;
        }
}

} // namespace

std::vector<std::vector<SelectedCell>> divided_cells(const Profile& profile, const PhaseData& data, IterationRange whole,
                                                     std::span<const IterationRange> parts) {
    std::vector<std::vector<SelectedCell>> cells = selected_cells(profile, data, parts);
    std::vector<FittedGroup> groups(group_count + 1);
    std::vector<std::map<CellKey, SelectedCell>> by_key(cells.size());
    for (std::uint32_t r = 0; r < cells.size(); ++r)
        for (const SelectedCell& cell : cells[r]) {
            FittedGroup& group = groups[group_of(profile, cell.path, cell.metric)];
            group.cells.push_back({r, group.column({cell.path, cell.metric}), cell.value, !cell.estimated});
            by_key[r].emplace(CellKey{cell.path, cell.metric}, cell);
        }
    const std::vector<SelectedCell> together = selected_cells(profile, data, std::span(&whole, 1)).front();
    for (const SelectedCell& cell : together) {
        FittedGroup& group = groups[group_of(profile, cell.path, cell.metric)];
        group.margins.columns[group.column({cell.path, cell.metric})] += cell.value;
    }
    std::vector<char> exact;
    for (const IterationRange& part : parts) exact.push_back(sums_are_exact(data, part) ? 1 : 0);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        Margins& margins = groups[g].margins;
        margins.rows.resize(cells.size());
        for (const TableCell& cell : groups[g].cells) margins.rows[cell.row] += cell.value;
        margins.row_is_exact = g == group_count ? std::vector<char>(cells.size()) : exact;
        take_fitted(groups[g], by_key);
    }
    for (std::size_t r = 0; r < cells.size(); ++r) {
        cells[r].clear();
        for (const auto& [key, cell] : by_key[r]) cells[r].push_back(cell);
        std::erase_if(cells[r], [](const SelectedCell& cell) { return cell.value == 0 && cell.bound == 0; });
    }
    return cells;
}

} // namespace libprofile::tools
