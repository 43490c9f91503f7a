#include "tools/analysis/fit_margins.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace libprofile::tools {

namespace {

using Sums = std::vector<std::uint64_t>;

constexpr int most_rounds = 50;
constexpr double near_enough = 1e-7; // of the whole; the rest is moved in whole numbers

std::uint64_t sum(const Sums& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); }

std::vector<double> as_weights(const Sums& values) { return {values.begin(), values.end()}; }

/// Takes the fixed cells from the margins.
/// @return false: they are more than a margin
bool take_fixed(const std::vector<TableCell>& cells, Margins& margins) {
    for (const TableCell& cell : cells) {
        if (!cell.fixed) continue;
        std::uint64_t &row = margins.rows[cell.row], &column = margins.columns[cell.column];
        if (cell.value > row || cell.value > column) return false;
        row -= cell.value;
        column -= cell.value;
    }
    return true;
}

/// Rows and columns add up to the same.
void balance(Margins& margins) {
    const std::uint64_t total = sum(margins.columns);
    std::vector<std::size_t> loose;
    std::uint64_t exact = 0;
    for (std::size_t r = 0; r < margins.rows.size(); ++r)
        if (margins.row_is_exact[r] != 0)
            exact += margins.rows[r];
        else
            loose.push_back(r);
    if (!loose.empty() && exact <= total) {
        std::vector<double> weights;
        for (const std::size_t r : loose) weights.push_back(static_cast<double>(margins.rows[r]));
        const Sums shares = apportion(weights, total - exact);
        for (std::size_t i = 0; i < loose.size(); ++i) margins.rows[loose[i]] = shares[i];
    } else if (sum(margins.rows) != total) {
        margins.rows = apportion(as_weights(margins.rows), total);
    }
}

class Fit {
  public:
    Fit(std::vector<TableCell>& cells, const Margins& margins) : cells_(cells), margins_(margins) {
        for (std::uint32_t i = 0; i < cells.size(); ++i)
            if (!cells[i].fixed) free_.push_back({i, static_cast<double>(cells[i].value)});
        spread_lost_columns();
        spread_lost_rows();
        std::sort(free_.begin(), free_.end(), [&](const Free& a, const Free& b) { return cells_[a.cell].column < cells_[b.cell].column; });
    }

    void run() {
        for (int round = 0; round < most_rounds; ++round) {
            scale(&TableCell::column, margins_.columns);
            if (scale(&TableCell::row, margins_.rows) <= near_enough * static_cast<double>(sum(margins_.rows))) break;
        }
        round_columns();
        settle_rows();
    }

  private:
    struct Free {
        std::uint32_t cell;
        double weight;
    };

    std::vector<double> weights_by(std::uint32_t TableCell::*of, std::size_t count) const {
        std::vector<double> weights(count);
        for (const Free& f : free_) weights[cells_[f.cell].*of] += f.weight;
        return weights;
    }

    void add(std::uint32_t row, std::uint32_t column, double weight) {
        cells_.push_back({row, column, 0, false});
        free_.push_back({static_cast<std::uint32_t>(cells_.size() - 1), weight});
    }

    /// Columns that have a sum and no weight.
    void spread_lost_columns() {
        const std::vector<double> weights = weights_by(&TableCell::column, margins_.columns.size());
        std::vector<char> has_cells(weights.size());
        for (Free& f : free_) {
            const TableCell& cell = cells_[f.cell];
            if (weights[cell.column] != 0 || margins_.rows[cell.row] == 0) continue;
            f.weight = static_cast<double>(margins_.rows[cell.row]);
            has_cells[cell.column] = 1;
        }
        for (std::uint32_t c = 0; c < weights.size(); ++c)
            for (std::uint32_t r = 0; weights[c] == 0 && has_cells[c] == 0 && margins_.columns[c] != 0 && r < margins_.rows.size(); ++r)
                if (margins_.rows[r] != 0) add(r, c, static_cast<double>(margins_.rows[r]));
    }

    /// Rows that have a sum, and weights in empty columns only.
    void spread_lost_rows() {
        std::vector<char> has_weight(margins_.rows.size());
        for (const Free& f : free_)
            if (f.weight != 0 && margins_.columns[cells_[f.cell].column] != 0) has_weight[cells_[f.cell].row] = 1;
        for (std::uint32_t r = 0; r < has_weight.size(); ++r)
            for (std::uint32_t c = 0; has_weight[r] == 0 && margins_.rows[r] != 0 && c < margins_.columns.size(); ++c)
                if (margins_.columns[c] != 0) add(r, c, static_cast<double>(margins_.columns[c]));
    }

    /// @return how far the sums were off before
    double scale(std::uint32_t TableCell::*of, const Sums& targets) {
        std::vector<double> factors = weights_by(of, targets.size());
        double off = 0;
        for (std::size_t i = 0; i < factors.size(); ++i) {
            const auto target = static_cast<double>(targets[i]);
            off += std::abs(factors[i] - target);
            factors[i] = factors[i] == 0 ? 0 : target / factors[i];
        }
        for (Free& f : free_) f.weight *= factors[cells_[f.cell].*of];
        return off;
    }

    void round_columns() {
        for (std::size_t first = 0; first < free_.size();) {
            const std::uint32_t column = cells_[free_[first].cell].column;
            std::size_t end = first;
            std::vector<double> weights;
            for (; end < free_.size() && cells_[free_[end].cell].column == column; ++end) weights.push_back(free_[end].weight);
            const Sums shares = apportion(weights, margins_.columns[column]);
            for (std::size_t i = first; i < end; ++i) cells_[free_[i].cell].value = shares[i - first];
            first = end;
        }
    }

    /// Moves what rows have too much to those that have too little, within columns.
    void settle_rows() {
        std::vector<std::vector<std::uint32_t>> by_row(margins_.rows.size());
        Sums sums(margins_.rows.size());
        for (const Free& f : free_) {
            by_row[cells_[f.cell].row].push_back(f.cell);
            sums[cells_[f.cell].row] += cells_[f.cell].value;
        }
        for (int any_column = 0; any_column < 2; ++any_column) // first where both rows have cells
            for (std::uint32_t from = 0; from < sums.size(); ++from)
                for (std::uint32_t to = 0; to < sums.size() && sums[from] > margins_.rows[from]; ++to)
                    if (sums[to] < margins_.rows[to]) move(from, to, by_row, sums, any_column != 0);
    }

    void move(std::uint32_t from, std::uint32_t to, std::vector<std::vector<std::uint32_t>>& by_row, Sums& sums, bool any_column) {
        std::size_t at = 0; // both rows are in the order of their columns
        for (std::size_t i = 0; i < by_row[from].size(); ++i) {
            const std::uint32_t giver = by_row[from][i], column = cells_[giver].column;
            const std::uint64_t wanted = std::min(sums[from] - margins_.rows[from], margins_.rows[to] - sums[to]);
            const std::uint64_t amount = std::min(wanted, cells_[giver].value);
            if (wanted == 0) return;
            if (amount == 0) continue;
            std::vector<std::uint32_t>& row = by_row[to];
            while (at < row.size() && cells_[row[at]].column < column) ++at;
            if (at == row.size() || cells_[row[at]].column != column) {
                if (!any_column) continue;
                cells_.push_back({to, column, 0, false});
                row.insert(row.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint32_t>(cells_.size() - 1));
            }
            cells_[giver].value -= amount;
            cells_[row[at]].value += amount;
            sums[from] -= amount;
            sums[to] += amount;
        }
    }

    std::vector<TableCell>& cells_;
    const Margins& margins_;
    std::vector<Free> free_; // by column
};

} // namespace

std::vector<std::uint64_t> apportion(const std::vector<double>& weights, std::uint64_t total) {
    Sums shares(weights.size());
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    std::vector<std::pair<double, std::size_t>> remainders;
    std::uint64_t left = total;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double share = static_cast<double>(total) * (all == 0 ? 1 / static_cast<double>(weights.size()) : weights[i] / all);
        shares[i] = share >= static_cast<double>(left) ? left : static_cast<std::uint64_t>(share);
        left -= shares[i];
        if (all == 0 || weights[i] != 0) remainders.emplace_back(share - static_cast<double>(shares[i]), i);
    }
    std::sort(remainders.begin(), remainders.end(), [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
    for (std::size_t i = 0; left != 0 && !remainders.empty(); i = (i + 1) % remainders.size(), --left) ++shares[remainders[i].second];
    return shares;
}

std::vector<TableCell> fit_margins(std::vector<TableCell> cells, Margins margins) {
    Margins free = margins;
    if (take_fixed(cells, free)) {
        margins = std::move(free);
    } else {
        for (TableCell& cell : cells) cell.fixed = false;
    }
    balance(margins);
    Fit(cells, margins).run();
    return cells;
}

} // namespace libprofile::tools
