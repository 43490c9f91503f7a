#include "tools/reader/sample_pools.hpp"

#include "tools/reader/merge_runs.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace libprofile::tools {

namespace {

/// What a cell is to the sharing out.
enum class Part : std::uint8_t { Other, Sampled, Hits, Squares, NotSampled, Counter };

/// A list of cells with what its sharing out depends on.
struct List {
    SharingRoom::Taken* taken = nullptr;
    std::uint64_t equivalence_class = 0;
    std::size_t number = 0; // of the cluster
    std::uint64_t computing_ns = 0;
    std::uint64_t sampled_ns = 0; // what its samples stand for
    std::uint64_t samples = 0;
    std::uint64_t squares = 0;     // us^2, of the times that single samples stand for
    std::size_t totals = 1;        // computing time and counters
    std::uint32_t time_metric = 0; // its number in the cells
    bool is_shared_out = false;
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

/// Calls put(list, cell) for all cells as they are afterwards, of one call path and metric also several times.
template <class Put> class Sharing {
  public:
    Sharing(CellNumbers numbers, std::span<const PathUse> uses, SharingRoom& room, Put put)
        : numbers_(numbers), uses_(uses), room_(room), put_(std::move(put)) {}

    void share_out(std::span<const CellList> lists);
    /// Once all is shared out.
    void note_pools(PhaseData& data) const;

  private:
    Part part_of(const Cell& cell) const {
        if (cell.path >= uses_.size() || cell.metric >= numbers_.metrics.size() || uses_[cell.path] == PathUse::Other) return Part::Other;
        const std::uint32_t metric = numbers_.metrics[cell.metric];
        const bool is_time = metric == static_cast<std::uint32_t>(Metric::Time), is_samples = metric == static_cast<std::uint32_t>(Metric::Samples);
        if (uses_[cell.path] == PathUse::Computing) return is_time ? Part::Sampled : is_samples ? Part::Hits : Part::Other;
        return is_time ? Part::NotSampled : is_samples ? Part::Squares : metric >= metric_count ? Part::Counter : Part::Other;
    }
    void take(const CellList& cells, std::size_t number);
    std::vector<Pool> pools();
    std::vector<Weight>& weigh(const Pool& pool);
    void share_out(const List& list, const std::vector<Weight>& weights);
    void keep_all(const List& list);

    CellNumbers numbers_;
    std::span<const PathUse> uses_;
    SharingRoom& room_;
    Put put_;
    std::vector<List> lists_;
    std::vector<SamplePool> pools_;
    std::vector<std::uint32_t> pool_of_list_;
    std::size_t cells_ = 0; // of the phase
};

/// What a phase of so many cells may grow by, for each pool. Full recordings of many short iterations get there, and hostile files.
std::size_t most_cells(std::size_t cells) { return std::min<std::size_t>(4096 + 8 * cells, std::size_t{1} << 24); }

/// What is decided at once is kept at once.
template <class Put> void Sharing<Put>::take(const CellList& cells, std::size_t number) {
    List list{&room_.lists[number], cells.equivalence_class, number};
    list.taken->sampled.clear();
    list.taken->others.clear();
    for (const std::span<const Cell> piece : cells.pieces)
        for (const Cell& cell : piece) {
            const Part part = part_of(cell);
            cells_ += part == Part::Squares ? 0 : 1;
            switch (part) {
            case Part::Sampled: // constructed in its place: copying a temporary would cost a tenth of the reading
                list.time_metric = cell.metric;
                list.computing_ns += cell.value;
                list.sampled_ns += cell.value;
                if (cell.value != 0) list.taken->sampled.emplace_back(cell.path, cell.value);
                break;
            case Part::NotSampled:
                list.computing_ns += cell.value;
                list.taken->others.push_back(cell);
                break;
            case Part::Counter:
                ++list.totals;
                list.taken->others.push_back(cell);
                break;
            case Part::Squares: list.squares += cell.value; break; // all else takes them for a number of samples
            case Part::Hits: list.samples += cell.value; [[fallthrough]];
            case Part::Other: put_(number, cell); break;
            }
        }
    // A negative sum is in damaged files only.
    list.is_shared_out = (list.computing_ns != 0 || list.sampled_ns != 0) && list.computing_ns >> 63 == 0;
    lists_.push_back(list);
}

/// Each list is in one pool. A list with few samples shares the pool of others like it: of the same call paths, if there are enough, else of
/// those that have the fewest.
template <class Put> std::vector<Pool> Sharing<Put>::pools() {
    std::map<std::uint64_t, std::vector<Pool>> of_class;
    std::map<std::uint64_t, Pool> small; // by class
    for (List& list : lists_) {
        if (!list.is_shared_out) continue;
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

/// The weights of the pool's call paths, which have the numbers of the file, so that the order does not depend on other ranks.
template <class Put> std::vector<Weight>& Sharing<Put>::weigh(const Pool& pool) {
    std::vector<Weight>& weights = pool.lists.size() == 1 ? pool.lists.front()->taken->sampled : room_.weights;
    if (pool.lists.size() != 1) {
        weights.clear();
        for (const List* list : pool.lists) weights.insert(weights.end(), list->taken->sampled.begin(), list->taken->sampled.end());
    }
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

template <class Put> void Sharing<Put>::share_out(const List& list, const std::vector<Weight>& weights) {
    std::map<std::uint32_t, std::uint64_t> totals; // by metric
    for (const Cell& cell : list.taken->others) totals[cell.metric] += cell.value;
    if (list.sampled_ns != 0) totals[list.time_metric] += list.sampled_ns;
    for (const auto& [metric, total] : totals) {
        const std::vector<std::uint64_t>& shares = proportional_shares(total, weights, room_.shares);
        for (std::size_t i = 0; i < shares.size(); ++i)
            if (shares[i] != 0) put_(list.number, Cell{weights[i].path, metric, shares[i]});
    }
}

template <class Put> void Sharing<Put>::keep_all(const List& list) {
    for (const Weight& weight : list.taken->sampled) put_(list.number, Cell{weight.path, list.time_metric, weight.ns});
    for (const Cell& cell : list.taken->others) put_(list.number, cell);
}

/// Keeps the heaviest paths, in order.
void keep_heaviest(std::vector<Weight>& weights, std::size_t most) {
    if (weights.size() <= most) return;
    std::nth_element(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(most), weights.end(),
                     [](const Weight& a, const Weight& b) { return a.ns != b.ns ? a.ns > b.ns : a.path < b.path; });
    weights.resize(most);
    std::sort(weights.begin(), weights.end(), [](const Weight& a, const Weight& b) { return a.path < b.path; });
}

template <class Put> void Sharing<Put>::share_out(std::span<const CellList> lists) {
    if (room_.lists.size() < lists.size()) room_.lists.resize(lists.size());
    lists_.reserve(lists.size());
    for (std::size_t l = 0; l < lists.size(); ++l) take(lists[l], l);
    pool_of_list_.assign(lists_.size(), std::numeric_limits<std::uint32_t>::max());
    for (const Pool& pool : pools()) {
        std::vector<Weight>& weights = weigh(pool);
        if (weights.empty()) {
            for (List* list : pool.lists) list->is_shared_out = false;
            continue;
        }
        for (const List* list : pool.lists) pool_of_list_[list->number] = static_cast<std::uint32_t>(pools_.size());
        pools_.push_back({pool.effective_samples(), pool.is_mixed()});
        std::size_t totals = 0;
        for (const List* list : pool.lists) totals += list->totals;
        keep_heaviest(weights, std::max<std::size_t>(1, most_cells(cells_) / totals));
        for (const List* list : pool.lists) share_out(*list, weights);
    }
    for (const List& list : lists_)
        if (!list.is_shared_out) keep_all(list);
}

template <class Put> void Sharing<Put>::note_pools(PhaseData& data) const {
    data.pools = pools_;
    data.pool_of_cluster = pool_of_list_;
    for (std::uint32_t& pool : data.pool_of_cluster) pool = std::min(pool, static_cast<std::uint32_t>(pools_.size()));
}

/// Sorts cells, and adds up those of one call path and metric: counters at a sample stay with its path, and the share is added.
void merge(std::vector<Cell>& cells) {
    merge_runs(cells, [](const Cell& a, const Cell& b) { return a.path != b.path ? a.path < b.path : a.metric < b.metric; });
    std::size_t end = 0;
    for (const Cell cell : cells)
        if (end != 0 && cells[end - 1].path == cell.path && cells[end - 1].metric == cell.metric)
            cells[end - 1].value += cell.value;
        else
            cells[end++] = cell;
    cells.resize(end);
}

} // namespace

std::vector<PathUse> uses_of(const Profile& profile, const std::vector<std::uint32_t>& nodes) {
    std::vector<PathUse> uses;
    uses.reserve(nodes.size());
    for (const std::uint32_t node : nodes) {
        const CallPath& path = profile.paths[node];
        // "(quota)" also has the times of MPI calls.
        const bool is_other = path.kind == NodeKind::Root || path.kind == NodeKind::Quota || category_of(profile, path) != TimeCategory::Compute;
        uses.push_back(path.kind == NodeKind::NotSampled ? PathUse::NotSampled : is_other ? PathUse::Other : PathUse::Computing);
    }
    return uses;
}

void share_out_computing_time(CellNumbers numbers, std::span<const PathUse> uses, PhaseData& data) {
    const auto cells_of = [&](std::size_t list) -> std::vector<Cell>& { return list < data.clusters.size() ? data.clusters[list].cells : data.rest; };
    std::vector<CellList> lists;
    for (const Cluster& cluster : data.clusters) lists.push_back({{cluster.cells}, cluster.equivalence_class});
    lists.push_back({{data.rest}, class_of_rest});
    SharingRoom room;
    std::vector<std::vector<Cell>> shared_out(lists.size());
    for (std::size_t l = 0; l < lists.size(); ++l) shared_out[l].reserve(cells_of(l).size());
    const auto put = [&](std::size_t list, const Cell& cell) { shared_out[list].push_back(cell); };
    Sharing sharing(numbers, uses, room, put);
    sharing.share_out(lists);
    sharing.note_pools(data);
    for (std::size_t l = 0; l < lists.size(); ++l) {
        merge(shared_out[l]);
        cells_of(l) = std::move(shared_out[l]);
    }
}

bool add_shared_out(CellNumbers numbers, std::span<const PathUse> uses, std::span<const CellList> lists, SharingRoom& room, PathSums& to) {
    bool is_good = true;
    const auto add = [&](std::size_t, const Cell& cell) {
        if (cell.path < numbers.nodes.size() && cell.metric < numbers.metrics.size())
            to.add(numbers.metrics[cell.metric], numbers.nodes[cell.path], cell.value);
        else
            is_good = false;
    };
    Sharing(numbers, uses, room, add).share_out(lists);
    return is_good;
}

} // namespace libprofile::tools
