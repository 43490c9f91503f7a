#include "tools/reader/sample_pools.hpp"

#include "tools/reader/merge_runs.hpp"
#include "tools/reader/proportional_shares.hpp"

#include <algorithm>
#include <map>

namespace libprofile::tools {

namespace {

/// What a cell is to the sharing out.
enum class Part : std::uint8_t { Other, Sampled, Hits, Squares, NotSampled, Counter };

/// The cells of a cluster, or of the rest.
struct List {
    std::vector<Cell>* cells = nullptr;
    std::vector<Part> parts; // of each cell
    std::uint64_t equivalence_class = 0;
    std::size_t number = 0; // of the cluster
    std::uint64_t computing_ns = 0;
    std::uint64_t sampled_ns = 0; // what its samples stand for
    std::uint64_t samples = 0;
    std::uint64_t squares = 0; // us^2, of the times that single samples stand for
    std::size_t totals = 1;    // computing time and counters
};

struct Pool {
    std::vector<List*> lists;
    std::uint64_t samples = 0;

    void add(const Pool& more) {
        lists.insert(lists.end(), more.lists.begin(), more.lists.end());
        samples += more.samples;
    }
    /// The effective sample size (L. Kish, "Survey Sampling" (1965), 11.7): the square of the sum of weights by the sum of their squares.
    double effective_samples() const {
        double us = 0, squares = 0;
        for (const List* list : lists) {
            us += static_cast<double>(list->sampled_ns) / 1000;
            squares += static_cast<double>(list->squares);
        }
        const auto all = static_cast<double>(samples);
        return squares == 0 ? all : std::min(all, us * us / squares); // older files have no squares
    }
    bool is_mixed() const {
        return std::any_of(lists.begin(), lists.end(), [&](const List* list) { return list->equivalence_class != lists.front()->equivalence_class; });
    }
};

class Sharing {
  public:
    Sharing(const Profile& profile, CellNumbers numbers, PhaseData& data, CellOrder order);
    void share_out();

  private:
    Part part_of(const Cell& cell) const;
    void take(std::vector<Cell>& cells, std::uint64_t equivalence_class, std::size_t number);
    std::vector<Pool> pools();
    std::vector<Weight> weights_of(const Pool& pool) const;
    void share_out(List& list, const std::vector<Weight>& weights) const;

    const Profile& profile_;
    CellNumbers numbers_;
    PhaseData& data_;
    CellOrder order_;
    std::vector<List> lists_;
    std::size_t cells_ = 0; // of the phase
};

/// What a phase of so many cells may grow by, for each pool. Full recordings of many short iterations get there, and hostile files.
std::size_t most_cells(std::size_t cells) { return std::min<std::size_t>(4096 + 8 * cells, std::size_t{1} << 24); }

Sharing::Sharing(const Profile& profile, CellNumbers numbers, PhaseData& data, CellOrder order)
    : profile_(profile), numbers_(numbers), data_(data), order_(order) {
    lists_.reserve(data.clusters.size() + 1);
    for (std::size_t c = 0; c < data.clusters.size(); ++c) take(data.clusters[c].cells, data.clusters[c].equivalence_class, c);
    take(data.rest, std::numeric_limits<std::uint64_t>::max(), data.clusters.size());
}

Part Sharing::part_of(const Cell& cell) const {
    if (cell.path >= numbers_.nodes.size() || cell.metric >= numbers_.metrics.size()) return Part::Other;
    const CallPath& path = profile_.paths[numbers_.nodes[cell.path]];
    const std::uint32_t metric = numbers_.metrics[cell.metric];
    constexpr auto time = static_cast<std::uint32_t>(Metric::Time);
    if (path.kind == NodeKind::NotSampled) {
        if (metric == static_cast<std::uint32_t>(Metric::Samples)) return Part::Squares;
        return metric == time ? Part::NotSampled : metric >= metric_count ? Part::Counter : Part::Other;
    }
    // "(quota)" also has the times of MPI calls.
    if (path.kind == NodeKind::Root || path.kind == NodeKind::Quota || category_of(profile_, path) != TimeCategory::Compute) return Part::Other;
    return metric == time ? Part::Sampled : metric == static_cast<std::uint32_t>(Metric::Samples) ? Part::Hits : Part::Other;
}

void Sharing::take(std::vector<Cell>& cells, std::uint64_t equivalence_class, std::size_t number) {
    List list{&cells, {}, equivalence_class, number};
    list.parts.reserve(cells.size());
    std::size_t kept = 0;
    for (const Cell cell : cells) {
        const Part part = part_of(cell);
        if (part == Part::Sampled || part == Part::NotSampled) list.computing_ns += cell.value;
        if (part == Part::Sampled) list.sampled_ns += cell.value;
        if (part == Part::Hits) list.samples += cell.value;
        if (part == Part::Squares) list.squares += cell.value;
        list.totals += part == Part::Counter ? 1 : 0;
        if (part == Part::Squares) continue; // all else takes them for a number of samples
        list.parts.push_back(part);
        cells[kept++] = cell;
    }
    cells.resize(kept);
    cells_ += kept;
    // A negative sum is in damaged files only.
    if ((list.computing_ns != 0 || list.sampled_ns != 0) && list.computing_ns >> 63 == 0) lists_.push_back(std::move(list));
}

/// Each list is in one pool. A list with few samples shares the pool of others like it: of the same call paths, if there are enough, else of
/// those that have the fewest.
std::vector<Pool> Sharing::pools() {
    std::map<std::uint64_t, std::vector<Pool>> of_class;
    std::map<std::uint64_t, Pool> small; // by class
    for (List& list : lists_) {
        const Pool alone{{&list}, list.samples};
        if (list.samples >= enough_samples)
            of_class[list.equivalence_class].push_back(alone);
        else
            small[list.equivalence_class].add(alone);
    }
    const auto smallest = [](std::vector<Pool>& pools) {
        return std::min_element(pools.begin(), pools.end(), [](const Pool& a, const Pool& b) { return a.samples < b.samples; });
    };
    Pool left;
    for (const auto& [equivalence_class, pool] : small) {
        const auto others = of_class.find(equivalence_class);
        if (pool.samples >= enough_samples)
            of_class[equivalence_class].push_back(pool);
        else if (others != of_class.end())
            smallest(others->second)->add(pool);
        else
            left.add(pool);
    }
    std::vector<Pool> all;
    for (const auto& [equivalence_class, pools] : of_class) all.insert(all.end(), pools.begin(), pools.end());
    if (left.samples >= enough_samples || all.empty())
        all.push_back(left);
    else
        smallest(all)->add(left);
    return all;
}

/// Paths have the numbers of the file, so that the order does not depend on other ranks.
std::vector<Weight> Sharing::weights_of(const Pool& pool) const {
    std::vector<Weight> weights;
    for (const List* list : pool.lists)
        for (std::size_t i = 0; i < list->cells->size(); ++i)
            if (const Cell& cell = (*list->cells)[i]; cell.value != 0 && list->parts[i] == Part::Sampled) weights.push_back({cell.path, cell.value});
    merge_runs(weights, [](const Weight& a, const Weight& b) { return a.path < b.path; });
    std::size_t end = 0;
    for (const Weight& weight : weights)
        if (end != 0 && weights[end - 1].path == weight.path)
            weights[end - 1].ns += weight.ns;
        else
            weights[end++] = weight;
    weights.resize(end);
    return weights;
}

void Sharing::share_out(List& list, const std::vector<Weight>& weights) const {
    std::vector<Cell>& cells = *list.cells;
    std::map<std::uint32_t, std::uint64_t> totals; // by metric
    std::size_t end = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Part part = list.parts[i];
        if (part == Part::Sampled || part == Part::NotSampled || part == Part::Counter)
            totals[cells[i].metric] += cells[i].value;
        else
            cells[end++] = cells[i];
    }
    cells.resize(end);
    cells.reserve(end + weights.size() * totals.size());
    for (const auto& [metric, total] : totals) {
        const std::vector<std::uint64_t> shares = proportional_shares(total, weights);
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (shares[i] != 0) cells.push_back({weights[i].path, metric, shares[i]});
    }
    if (order_ == CellOrder::AsTheyCome) return;
    merge_runs(cells, [](const Cell& a, const Cell& b) { return a.path != b.path ? a.path < b.path : a.metric < b.metric; });
    end = 0;
    for (const Cell cell : cells) // counters at a sample stay with its path, and the share is added
        if (end != 0 && cells[end - 1].path == cell.path && cells[end - 1].metric == cell.metric)
            cells[end - 1].value += cell.value;
        else
            cells[end++] = cell;
    cells.resize(end);
}

/// Keeps the heaviest paths, in order.
void keep_heaviest(std::vector<Weight>& weights, std::size_t most) {
    if (weights.size() <= most) return;
    std::nth_element(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(most), weights.end(),
                     [](const Weight& a, const Weight& b) { return a.ns != b.ns ? a.ns > b.ns : a.path < b.path; });
    weights.resize(most);
    std::sort(weights.begin(), weights.end(), [](const Weight& a, const Weight& b) { return a.path < b.path; });
}

void Sharing::share_out() {
    constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    data_.pools.clear();
    data_.pool_of_cluster.assign(data_.clusters.size() + 1, none);
    for (const Pool& pool : pools()) {
        std::vector<Weight> weights = weights_of(pool);
        if (weights.empty()) continue;
        for (const List* list : pool.lists) data_.pool_of_cluster[list->number] = static_cast<std::uint32_t>(data_.pools.size());
        data_.pools.push_back({pool.effective_samples(), pool.is_mixed()});
        std::size_t totals = 0;
        for (const List* list : pool.lists) totals += list->totals;
        keep_heaviest(weights, std::max<std::size_t>(1, most_cells(cells_) / totals));
        for (List* list : pool.lists) share_out(*list, weights);
    }
    std::replace(data_.pool_of_cluster.begin(), data_.pool_of_cluster.end(), none, static_cast<std::uint32_t>(data_.pools.size()));
}

} // namespace

void share_out_computing_time(const Profile& profile, CellNumbers numbers, PhaseData& data, CellOrder order) {
    Sharing(profile, numbers, data, order).share_out();
}

} // namespace libprofile::tools
