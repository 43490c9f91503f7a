#include "tools/profile/kept_iterations.hpp"

#include "tools/evaluation/bounded_method.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <new>

namespace libprofile::tools {

namespace {

constexpr std::uint32_t metric_limit = 1u << libprofile::Cell::metric_bits;

std::string value_of(const std::string& configuration, const std::string& name) {
    const std::string start = name + "=";
    std::size_t at = 0;
    while (at < configuration.size()) {
        const std::size_t end = std::min(configuration.find('\n', at), configuration.size());
        if (configuration.compare(at, start.size(), start) == 0)
            return configuration.substr(at + start.size(), end - at - start.size());
        at = end + 1;
    }
    return "";
}

/// Event paths and their visits in an iteration: what strong classes have in common. Empty: not the same in all of them.
using Structure = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
Structure structure_of(const Cluster& cluster, const std::vector<bool>& is_event) {
    Structure structure;
    for (const Cell& cell : cluster.cells) {
        if (cell.metric != static_cast<std::uint32_t>(Metric::Visits) || cell.path >= is_event.size() || !is_event[cell.path])
            continue;
        if (cluster.size == 0 || cell.value % cluster.size != 0)
            return {};
        structure.emplace_back(cell.path, cell.value / cluster.size);
    }
    return structure;
}

void remember_pages(void* list, void* pages, std::size_t bytes) noexcept {
    // The vector has room: see the constructor and add().
    static_cast<std::vector<std::pair<void*, std::size_t>>*>(list)->emplace_back(pages, bytes);
}

} // namespace

KeptSettings kept_settings(const std::string& configuration) {
    KeptSettings settings;
    const std::string clusters = value_of(configuration, "LIBPROFILE_CLUSTERS");
    if (clusters == "off")
        settings.clusters = Clusterer::no_limit;
    else if (!clusters.empty() && clusters.size() < 5 && std::all_of(clusters.begin(), clusters.end(), [](char c) { return c >= '0' && c <= '9'; }))
        settings.clusters = std::clamp<std::uint32_t>(static_cast<std::uint32_t>(std::stoul(clusters)), 1, 4096);
    const std::string mode = value_of(configuration, "LIBPROFILE_EQUIVALENCE");
    constexpr const char* modes[] = {"auto", "strong", "weak", "none"};
    for (std::size_t i = 0; i < std::size(modes); ++i)
        if (mode == modes[i])
            settings.mode = static_cast<EquivalenceMode>(i);
    return settings;
}

KeptIterations::KeptIterations(KeptSettings settings)
    : clusterer_(arena_, pool_, settings.clusters, settings.mode, true), series_(arena_, pool_, {true, 0, 0, std::numeric_limits<std::uint64_t>::max()}) {
    libprofile::memory_quota.limit(std::numeric_limits<std::uint64_t>::max());
    pages_.reserve(256);
    arena_.tell_of_pages(remember_pages, &pages_);
}

KeptIterations::~KeptIterations() {
    for (const auto& [pages, bytes] : pages_)
        libprofile::memory_quota.unmap(pages, bytes);
}

void KeptIterations::add(std::span<const libprofile::Cell> cells, std::span<const libprofile::Cell> events,
                         const CondensedVector& condensed, std::uint64_t wall_ns, const StructureSignatures& signatures) {
    if (pages_.capacity() - pages_.size() < 128)
        pages_.reserve(pages_.capacity() * 2); // remember_pages() must not throw through code without exceptions
    libprofile::IterationProfile profile;
    profile.size = static_cast<std::uint32_t>(cells.size());
    profile.cells = static_cast<libprofile::Cell*>(pool_.allocate(profile.bytes()));
    if (profile.cells == nullptr)
        throw std::bad_alloc();
    std::copy(cells.begin(), cells.end(), profile.cells);
    static const libprofile::Cell none{};
    series_.add(events.empty() ? &none : events.data(), static_cast<std::uint32_t>(events.size()), condensed.values, wall_ns,
                signatures);
    if (!clusterer_.add(profile, condensed, signatures))
        throw std::bad_alloc();
    wall_ns_.push_back(wall_ns);
}

void KeptIterations::add_to_rest(std::uint64_t wall_ns) {
    series_.add_unknown();
    clusterer_.add_unclustered();
    wall_ns_.push_back(wall_ns);
}

void KeptIterations::append_to(PhaseData& data, const std::vector<bool>& is_event) {
    // Classes that the file has already keep their numbers.
    std::map<Structure, std::uint64_t> known;
    std::uint64_t classes = data.classes;
    for (const Cluster& cluster : data.clusters) {
        classes = std::max(classes, cluster.equivalence_class == std::numeric_limits<std::uint64_t>::max() ? 0 : cluster.equivalence_class + 1);
        if (Structure structure = structure_of(cluster, is_event); !structure.empty())
            known.emplace(std::move(structure), cluster.equivalence_class);
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
        if (cluster == before)
            cluster = static_cast<std::uint32_t>(all); // the rest
    for (std::uint32_t i = 0; i < wall_ns_.size(); ++i)
        data.cluster_of_iteration.push_back(static_cast<std::uint32_t>(before) + clusterer_.cluster_of(i));
    data.iteration_ns.insert(data.iteration_ns.end(), wall_ns_.begin(), wall_ns_.end());
    data.instances += wall_ns_.size();
    data.unclustered += clusterer_.unclustered();
    if (before == 0)
        data.equivalence = clusterer_.equivalence();
}

SeriesData KeptIterations::series() const {
    return series_data_of(series_);
}

} // namespace libprofile::tools
