#include "tools/analysis/iteration_values.hpp"

namespace libprofile::tools {

namespace {

std::vector<MetricValues> mean_values(const Profile& profile, const PhaseData& data) {
    std::vector<MetricValues> means;
    const auto add_mean = [&](const std::vector<Cell>& cells, std::uint64_t size) {
        means.push_back(condense(profile, cells));
        for (std::uint64_t& v : means.back()) v = size == 0 ? 0 : (v + size / 2) / size;
    };
    for (const Cluster& cluster : data.clusters) add_mean(cluster.cells, cluster.size);
    add_mean(data.rest, data.unclustered);
    return means;
}

} // namespace

IterationValues::IterationValues(const Profile& profile, const Location& location, const PhaseData& data)
    : data_(data), means_(mean_values(profile, data)), inside_(rows_inside(profile, location, data)) {
    if (data.series) reader_.emplace(*data.series, false);
}

void IterationValues::begin_with(std::uint64_t iteration) {
    if (reader_) read_ = static_cast<std::size_t>(reader_->skip_before(iteration));
    next_ = static_cast<std::size_t>(iteration);
}

bool IterationValues::next() {
    if (next_ >= data_.cluster_of_iteration.size()) return false;
    iteration_ = next_++;
    bool is_read = reader_.has_value();
    while (is_read && read_ <= iteration_) {
        is_read = reader_->next();
        if (is_read)
            ++read_;
        else
            reader_.reset(); // damaged, or shorter
    }
    is_exact_ = is_read && reader_->has_totals();
    return true;
}

} // namespace libprofile::tools
