#include "tools/diagnosis/growth_of_samples.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace libprofile::tools {

void GrowthOfSamples::Products::add(const Products& more) {
    share += more.share, other += more.other;
    for (std::size_t c = 0; c < growth_courses; ++c) x[c] += more.x[c];
}

GrowthOfSamples::GrowthOfSamples(const Profile& profile, const IterationMatrix& matrix, const NamedSpots& names, const std::vector<const Suspect*>& others)
    : names_(names), iterations_(matrix.iterations()), course_(matrix.iterations()) {
    for (std::size_t i = 0; i < iterations_; ++i)
        for (std::size_t c = 0; c < growth_courses; ++c) course_[i][c] = growth_course(c, i, iterations_);
    constexpr std::size_t most_ranks_read = 64; // they stand for the others
    const std::size_t rows = std::min(most_ranks_read, matrix.ranks());
    ranks_.resize(rows);
    in_parallel(rows, [&](std::size_t k) { ranks_[k] = read(profile, matrix, k * matrix.ranks() / rows, others); });
    sum_up();
}

GrowthOfSamples::Fit GrowthOfSamples::best(std::size_t c) const {
    constexpr double nearly_all = 0.9; // of the time: such a function tells nothing
    Fit found;
    for (std::uint32_t node = 1; node < products_.size(); ++node) {
        const NodeKind kind = names_.tree.nodes[node].kind;
        if ((kind != NodeKind::Frame && kind != NodeKind::Python) || names_.is_system[node]) continue;
        if (const Fit one = of(node, c); one.share < nearly_all && one.certain() > found.certain()) found = one;
    }
    if (found.node != 0) found.error *= std::sqrt(std::max(1.0, scatter(found, c)));
    return found;
}

GrowthOfSamples::Fit GrowthOfSamples::of(std::uint32_t node, std::size_t c) const {
    Fit fit;
    const double determinant = xx_[c] * other_other_ - x_other_[c] * x_other_[c];
    const bool has_other = determinant > 1e-9 * xx_[c] * other_other_;
    const double all = all_.share, share = products_[node].share / std::max(all, 1.0);
    if (all <= 0 || xx_[c] <= 0 || share <= 0) return fit;
    const Products& p = products_[node];
    const double inverse = has_other ? other_other_ / determinant : 1 / xx_[c];
    fit.node = node;
    fit.slope = has_other ? (p.x[c] * other_other_ - p.other * x_other_[c]) / determinant : p.x[c] / xx_[c];
    fit.error = std::sqrt(share * (1 - std::min(share, 1 - 1e-6)) * inverse);
    fit.share = std::max(0.0, share - fit.slope * mean_x_[c]);
    return fit;
}

std::size_t GrowthOfSamples::functions() const {
    const auto some = std::count_if(products_.begin(), products_.end(), [](const Products& p) { return p.share > 0; });
    return static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, some));
}

GrowthOfSamples::Rank GrowthOfSamples::read(const Profile& profile, const IterationMatrix& matrix, std::size_t row,
                                            const std::vector<const Suspect*>& others) const {
    const PhaseData* data = find_phase(matrix.locations[row], matrix.phase);
    if (data == nullptr || matrix.first != 0 || data->cluster_of_iteration.size() > iterations_ + iterations_ / 50) return {};
    std::vector<float> other(iterations_);
    for (const Suspect* suspect : others)
        for (const RankExcess& part : suspect->parts)
            if (part.rank == row && part.ns.size() == iterations_) std::transform(part.ns.begin(), part.ns.end(), other.begin(), other.begin(), std::plus<>());
    PooledSamples by_kind = samples_by_kind(profile, *data);
    std::optional<PooledSamples> by_time = samples_by_time(profile, matrix.locations[row]->trace, *data, by_kind.selection);
    Rank rank = in_pools(std::move(by_kind), other);
    if (!by_time) return rank;
    Rank with_times = in_pools(std::move(*by_time), other);
    return with_times.tells() > rank.tells() ? with_times : rank;
}

GrowthOfSamples::Rank GrowthOfSamples::in_pools(PooledSamples pooled, const std::vector<float>& other) const {
    Rank rank{std::move(pooled.selection), {}, {}};
    rank.pools.resize(rank.selection.strata.size());
    for (std::size_t p = 0; p < rank.pools.size(); ++p) {
        rank.pools[p].samples = rank.selection.strata[p].samples();
        rank.pools[p].ns = rank.selection.strata[p].ns;
    }
    for (std::size_t i = 0; i < std::min(iterations_, pooled.pool_of_iteration.size()); ++i) {
        const std::size_t p = pooled.pool_of_iteration[i];
        if (p >= rank.pools.size()) continue;
        for (std::size_t c = 0; c < growth_courses; ++c) rank.pools[p].x[c] += course_[i][c];
        rank.pools[p].other += other[i];
    }
    double samples = 0, mean_other = 0;
    for (Pool& pool : rank.pools) {
        // What another cause makes much longer has other shares of all functions, and not in proportion.
        constexpr double another = 0.1;
        if (pool.ns <= 0 || pool.other > another * pool.ns) pool.samples = 0;
        if (pool.samples <= 0) continue;
        for (double& x : pool.x) x /= pool.ns;
        pool.other /= pool.ns;
        samples += pool.samples;
        mean_other += pool.samples * pool.other;
        for (std::size_t c = 0; c < growth_courses; ++c) rank.mean[c] += pool.samples * pool.x[c];
    }
    if (samples <= 0) return rank;
    for (double& mean : rank.mean) mean /= samples;
    for (Pool& pool : rank.pools) {
        for (std::size_t c = 0; c < growth_courses; ++c) pool.x[c] -= rank.mean[c];
        pool.other -= mean_other / samples;
    }
    return rank;
}

double GrowthOfSamples::Rank::tells() const {
    double sum = 0;
    for (const Pool& pool : pools) sum += pool.samples * pool.x[0] * pool.x[0];
    return sum;
}

void GrowthOfSamples::sum_up() {
    products_.resize(names_.tree.nodes.size());
    for (const Rank& rank : ranks_) {
        for (const Pool& pool : rank.pools) {
            if (pool.samples <= 0) continue;
            all_.share += pool.samples;
            other_other_ += pool.samples * pool.other * pool.other;
            for (std::size_t c = 0; c < growth_courses; ++c) {
                xx_[c] += pool.samples * pool.x[c] * pool.x[c];
                x_other_[c] += pool.samples * pool.x[c] * pool.other;
                mean_x_[c] += pool.samples * rank.mean[c];
            }
        }
        for (const SampledSelection::Part& part : rank.selection.parts) {
            const Pool& pool = rank.pools[part.stratum];
            if (pool.samples <= 0) continue;
            const double weight = pool.samples * part.ns / pool.ns;
            Products one{weight, weight * pool.other, {}};
            for (std::size_t c = 0; c < growth_courses; ++c) one.x[c] = weight * pool.x[c];
            products_[names_.tree.node_of_path[part.path]].add(one);
        }
    }
    for (double& mean : mean_x_) mean /= std::max(all_.share, 1.0);
    for (std::size_t node = products_.size(); node-- > 1;) products_[static_cast<std::size_t>(names_.tree.nodes[node].parent)].add(products_[node]);
}

double GrowthOfSamples::scatter(const Fit& fit, std::size_t c) const {
    std::vector<bool> is_below(names_.tree.nodes.size());
    is_below[fit.node] = true;
    for (std::size_t node = fit.node + 1; node < is_below.size(); ++node) is_below[node] = is_below[static_cast<std::size_t>(names_.tree.nodes[node].parent)];
    double squares = 0, points = 0;
    const double mean = products_[fit.node].share / all_.share, variance = mean * (1 - mean);
    for (const Rank& rank : ranks_) {
        std::vector<double> shares(rank.pools.size());
        for (const SampledSelection::Part& part : rank.selection.parts)
            if (is_below[names_.tree.node_of_path[part.path]] && rank.pools[part.stratum].ns > 0) shares[part.stratum] += part.ns / rank.pools[part.stratum].ns;
        double samples = 0, own = 0, used = 0;
        for (std::size_t p = 0; p < shares.size(); ++p) samples += rank.pools[p].samples, own += rank.pools[p].samples * shares[p];
        for (std::size_t p = 0; p < shares.size(); ++p) {
            if (rank.pools[p].samples <= 0) continue;
            const double off = shares[p] - own / samples - fit.slope * rank.pools[p].x[c];
            squares += rank.pools[p].samples * off * off / variance;
            ++used;
        }
        points += std::max(0.0, used - 1);
    }
    return points <= 1 ? 1 : squares / (points - 1);
}

} // namespace libprofile::tools
