#include "tools/reader/kept_iterations.hpp"

#include "tools/reader/series_in_memory.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <new>

namespace libprofile::tools {

namespace {

constexpr std::uint32_t metric_limit = 1u << libprofile::Cell::metric_bits;

/// Event paths and their visits in an iteration: what strong classes have in common. Empty if it differs between them.
using Structure = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
Structure structure_of(const Cluster& cluster, const std::vector<bool>& is_event) {
    Structure structure;
    for (const Cell& cell : cluster.cells) {
        if (cell.metric != static_cast<std::uint32_t>(Metric::Visits) || cell.path >= is_event.size() || !is_event[cell.path]) continue;
        if (cluster.size == 0 || cell.value % cluster.size != 0) return {};
        structure.emplace_back(cell.path, cell.value / cluster.size);
    }
    return structure;
}

/// More would take more time than the distances are worth, which each iteration needs to every cluster.
constexpr std::uint64_t most_distances = std::uint64_t{1} << 25;
/// Columns of series, over all iterations: half a second or so.
constexpr std::uint64_t most_series_work = std::uint64_t{1} << 27;

/// More clusters than iterations are of no use, but take memory.
std::uint32_t most_clusters(std::uint32_t wanted, std::uint64_t iterations) {
    if (wanted == Clusterer::no_limit) return wanted;
    iterations = std::max<std::uint64_t>(iterations, 1);
    const std::uint64_t quick = std::max<std::uint64_t>(most_distances / iterations, KeptSettings().clusters);
    return static_cast<std::uint32_t>(std::min({std::uint64_t{wanted}, iterations, quick}));
}

/// Sums by key to cells sorted by path and metric.
void add_to_cells(const std::map<std::uint32_t, std::uint64_t>& sums, std::vector<Cell>& cells) {
    if (sums.empty()) return;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> all;
    for (const Cell& cell : cells) all[{cell.path, cell.metric}] += cell.value;
    for (const auto& [key, value] : sums) all[{key / metric_limit, key % metric_limit}] += value;
    cells.clear();
    for (const auto& [key, value] : all) cells.push_back({key.first, key.second, value});
}

void remember_pages(void* list, void* pages, std::size_t bytes) noexcept {
    // The vector has room: see the constructor and add().
    static_cast<std::vector<std::pair<void*, std::size_t>>*>(list)->emplace_back(pages, bytes);
}

} // namespace

std::string setting_of(const std::string& configuration, const std::string& name) {
    const std::string start = name + "=";
    std::size_t at = 0;
    while (at < configuration.size()) {
        const std::size_t end = std::min(configuration.find('\n', at), configuration.size());
        if (configuration.compare(at, start.size(), start) == 0) return configuration.substr(at + start.size(), end - at - start.size());
        at = end + 1;
    }
    return "";
}

KeptSettings kept_settings(const std::string& configuration) {
    KeptSettings settings;
    const std::string clusters = setting_of(configuration, "LIBPROFILE_CLUSTERS");
    if (clusters == "off")
        settings.clusters = Clusterer::no_limit;
    else if (!clusters.empty() && clusters.size() < 5 && std::all_of(clusters.begin(), clusters.end(), [](char c) { return c >= '0' && c <= '9'; }))
        settings.clusters = std::clamp<std::uint32_t>(static_cast<std::uint32_t>(std::stoul(clusters)), 1, 4096);
    const std::string mode = setting_of(configuration, "LIBPROFILE_EQUIVALENCE");
    constexpr const char* modes[] = {"auto", "strong", "weak", "none"};
    for (std::size_t i = 0; i < std::size(modes); ++i)
        if (mode == modes[i]) settings.mode = static_cast<EquivalenceChoice>(i);
    return settings;
}

KeptIterations::KeptIterations(KeptSettings settings, std::uint64_t most)
    : limit_(most_clusters(settings.clusters, most)), clusterer_(arena_, pool_, limit_, settings.mode, true, 0, 2 * settings.counters),
      series_(arena_, pool_, {true, 0, 0, 0, false, settings.counter_metrics}) {
    pages_.reserve(256);
    arena_.tell_of_pages(remember_pages, &pages_);
}

KeptIterations::~KeptIterations() {
    for (const auto& [pages, bytes] : pages_) libprofile::memory_quota.unmap(pages, bytes);
}

void KeptIterations::add(KeptProfile profile, std::uint64_t wall_ns, bool is_mixed) {
    cluster_newest();
    if (pages_.capacity() - pages_.size() < 128) pages_.reserve(pages_.capacity() * 2); // remember_pages() must not throw through code without exceptions
    if (is_mixed) {
        series_.add_unknown();
    } else {
        // Each iteration costs as much as there are columns, whatever it has itself.
        series_work_ += series_.columns().counts + series_.columns().times;
        static const libprofile::Cell none{};
        const libprofile::Cell* events = profile.events.empty() ? &none : profile.events.data();
        series_.add(series_work_ > most_series_work ? nullptr : events, static_cast<std::uint32_t>(profile.events.size()), profile.condensed.values, wall_ns,
                    profile.signatures);
    }
    wall_ns_.push_back(wall_ns);
    newest_ = std::move(profile);
}

void KeptIterations::add_to_rest(std::uint64_t wall_ns) {
    cluster_newest();
    series_.add_unknown();
    wall_ns_.push_back(wall_ns);
    in_clusterer_.push_back(no_cluster);
    ++unclustered_;
}

std::optional<std::vector<libprofile::Cell>> KeptIterations::take_back() {
    if (!newest_) return std::nullopt;
    std::vector<libprofile::Cell> cells = std::move(newest_->cells);
    newest_.reset();
    in_clusterer_.push_back(no_cluster);
    ++unclustered_;
    return cells;
}

bool KeptIterations::give_to_clusterer(const KeptProfile& from) {
    libprofile::IterationProfile profile;
    profile.size = static_cast<std::uint32_t>(from.cells.size());
    profile.cells = static_cast<libprofile::Cell*>(pool_.allocate(profile.bytes()));
    if (profile.cells == nullptr) return false;
    std::copy(from.cells.begin(), from.cells.end(), profile.cells);
    if (clusterer_.add(profile, from.condensed, from.signatures)) return true;
    pool_.release(profile.cells, profile.bytes());
    return false;
}

void KeptIterations::cluster_newest() {
    if (!newest_) return;
    const KeptProfile profile = *std::exchange(newest_, std::nullopt);
    const auto number = static_cast<std::uint32_t>(clusterer_.iterations());
    if (limit_ != Clusterer::no_limit && clusterer_.cluster_count() > limit_) // each class needs one
        class_work_ += clusterer_.cluster_count();
    is_full_ = is_full_ || class_work_ > most_distances / 2;
    // As in the runtime: clusters are merged so that there is room for others. Where that cannot be done there is none again.
    if (!is_full_ && (give_to_clusterer(profile) || (clusterer_.make_room() && give_to_clusterer(profile)))) {
        in_clusterer_.push_back(number);
        return;
    }
    is_full_ = true;
    in_clusterer_.push_back(no_cluster);
    ++unclustered_;
    ++without_room_;
    for (const libprofile::Cell& cell : profile.cells) rest_[cell.key] += cell.value;
}

void KeptIterations::append_to(PhaseData& data, const std::vector<bool>& is_event) {
    cluster_newest();
    // Classes that the file has already keep their numbers.
    std::map<Structure, std::uint64_t> known;
    std::uint64_t classes = data.classes;
    for (const Cluster& cluster : data.clusters) {
        classes = std::max(classes, cluster.equivalence_class == std::numeric_limits<std::uint64_t>::max() ? 0 : cluster.equivalence_class + 1);
        if (Structure structure = structure_of(cluster, is_event); !structure.empty()) known.emplace(std::move(structure), cluster.equivalence_class);
    }
    std::map<std::uint32_t, std::uint64_t> class_numbers; // by number in the clusterer
    const std::size_t before = data.clusters.size();
    const std::size_t all = before + clusterer_.cluster_count();
    for (std::uint32_t i = 0; i < clusterer_.cluster_count(); ++i) {
        const libprofile::Cluster& from = clusterer_.cluster(i);
        Cluster& to = data.clusters.emplace_back();
        to.size = from.members;
        for (std::uint32_t c = 0; c < from.sums.size; ++c)
            to.cells.push_back({from.sums.cells[c].key / metric_limit, from.sums.cells[c].key % metric_limit, from.sums.cells[c].value});
        if (!class_numbers.contains(from.equivalence_class)) {
            const auto at = known.find(structure_of(to, is_event));
            class_numbers[from.equivalence_class] = at != known.end() ? at->second : classes++;
        }
        to.equivalence_class = class_numbers[from.equivalence_class];
    }
    data.classes = classes;
    for (std::uint32_t& cluster : data.cluster_of_iteration)
        if (cluster == before) cluster = static_cast<std::uint32_t>(all); // the rest
    for (const std::uint32_t number : in_clusterer_)
        data.cluster_of_iteration.push_back(number == no_cluster ? static_cast<std::uint32_t>(all)
                                                                 : static_cast<std::uint32_t>(before) + clusterer_.cluster_of(number));
    add_to_cells(rest_, data.rest);
    data.iteration_ns.insert(data.iteration_ns.end(), wall_ns_.begin(), wall_ns_.end());
    data.instances += wall_ns_.size();
    data.unclustered += unclustered_;
    if (before == 0) data.equivalence = clusterer_.equivalence();
}

SeriesData KeptIterations::series() const { return series_data_of(series_); }

} // namespace libprofile::tools
