#include "tools/analysis/totals.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

/// Exclusive values by direct metric and times by category: what the catalogue is derived from.
class Accumulator {
  public:
    explicit Accumulator(const Profile& profile) : profile_(profile), direct_(profile.metrics.size()) {}

    void operator()(const Cell& cell) {
        direct_[cell.metric] += cell.value;
        if (cell.metric == 0) by_category_[static_cast<std::size_t>(category_of(profile_, profile_.paths[cell.path]))] += cell.value;
    }

    MetricValues values() const {
        MetricValues out(catalogue_size);
        derive_catalogue(direct_.data(), by_category_, out.data());
        out.insert(out.end(), direct_.begin() + metric_count, direct_.end());
        return out;
    }

  private:
    const Profile& profile_;
    std::vector<std::uint64_t> direct_;
    std::uint64_t by_category_[static_cast<std::size_t>(TimeCategory::Count)] = {};
};

} // namespace

std::vector<MetricRow> metric_rows(const Profile& profile) {
    std::vector<MetricRow> rows;
    for (const CatalogueRow& row : metric_catalogue) {
        MetricRow r{row.name, row.unit, row.label, row.description, -1, 0};
        if (row.parent != CatalogueId::None) {
            r.parent = static_cast<int>(row.parent);
            r.depth = rows[static_cast<std::size_t>(row.parent)].depth + 1;
        }
        rows.push_back(std::move(r));
    }
    for (std::size_t m = metric_count; m < profile.metrics.size(); ++m)
        rows.push_back({profile.metrics[m].name, profile.metrics[m].unit, profile.metrics[m].name, profile.metrics[m].description, -1, 0});
    return rows;
}

MetricValues condense(const Profile& profile, const std::vector<Cell>& cells) {
    Accumulator sum(profile);
    for (const Cell& cell : cells) sum(cell);
    return sum.values();
}

MetricValues totals(const Profile& profile, const PhaseData& data) {
    Accumulator sum(profile);
    for_each_cell(data, sum);
    return sum.values();
}

MetricValues totals(const Profile& profile, const Location& location) {
    Accumulator sum(profile);
    for (const PhaseData& data : location.phases) for_each_cell(data, sum);
    return sum.values();
}

void add(MetricValues& sum, const MetricValues& more) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

std::uint64_t computing_of(const MetricValues& values) {
    const auto row = [&](CatalogueId id) { return values[static_cast<std::size_t>(id)]; };
    const std::uint64_t other = row(CatalogueId::Mpi) + row(CatalogueId::OpenMp) + row(CatalogueId::OffCpu);
    return row(CatalogueId::Execution) > other ? row(CatalogueId::Execution) - other : 0;
}

std::vector<const Location*> main_threads(const Profile& profile) {
    std::vector<const Location*> mains(profile.job.ranks, nullptr);
    for (const Location& location : profile.locations)
        if (location.thread == 0) mains[location.rank] = &location;
    return mains;
}

std::vector<const Location*> worker_threads(const Profile& profile) {
    std::vector<const Location*> others;
    for (const Location& location : profile.locations)
        if (location.thread != 0) others.push_back(&location);
    return others;
}

const PhaseData* find_phase(const Location* location, std::uint32_t phase) {
    if (location == nullptr) return nullptr;
    for (const PhaseData& data : location->phases)
        if (data.phase == phase) return &data;
    return nullptr;
}

Spread spread_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    Spread spread;
    spread.minimum = values.front();
    spread.maximum = values.back();
    const std::size_t middle = values.size() / 2;
    spread.median = values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    for (const double v : values) spread.sum += v;
    return spread;
}

} // namespace libprofile::tools
