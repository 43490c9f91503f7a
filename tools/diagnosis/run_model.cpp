#include "tools/diagnosis/run_model.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/diagnosis/levels.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace libprofile::tools {

bool ranks_meet(const IterationMatrix& matrix) {
    std::size_t meetings = 0;
    for (std::size_t i = 0; i < matrix.iterations(); ++i) {
        bool all = true;
        for (std::size_t r = 0; r < matrix.ranks() && all; ++r) all = matrix.at(IterationPart::CollectiveCalls, r, i) > 0;
        meetings += all ? 1 : 0;
    }
    return matrix.is_whole_run || meetings * 10 >= matrix.iterations() * 9;
}

RunModel::RunModel(const IterationMatrix& matrix)
    : ranks_(matrix.ranks()), iterations_(matrix.iterations()), local_(ranks_ * iterations_), base_(iterations_), meets_always_(ranks_meet(matrix)) {
    in_parallel(ranks_, [&](std::size_t r) {
        for (std::size_t i = 0; i < iterations_; ++i) cell(r, i) = static_cast<float>(matrix.local(r, i));
    });
    find_base();
    find_jitter();
}

void RunModel::find_jitter() {
    // A fifth of the changes is smaller than 0.253 deviations of their own, which are 1.414 of an iteration's. Rare and periodic excess does
    // not count then.
    std::vector<float> changes;
    const std::size_t step = std::max<std::size_t>(1, ranks_ * iterations_ / 100'000);
    for (std::size_t at = step; at < local_.size(); at += step)
        if (at % iterations_ != 0) changes.push_back(std::abs(local_[at] - local_[at - 1]));
    jitter_ = changes.empty() ? 0 : quantile(std::move(changes), 0.2) / 0.253 / 1.414;
}

void RunModel::find_base() {
    constexpr std::size_t block = 64; // iterations at a time, so that rows are read in pieces
    in_parallel((iterations_ + block - 1) / block, [&](std::size_t b) {
        std::vector<float> column(ranks_);
        for (std::size_t i = b * block; i < std::min(iterations_, (b + 1) * block); ++i) {
            for (std::size_t r = 0; r < ranks_; ++r) column[r] = local(r, i);
            const auto middle = column.begin() + static_cast<std::ptrdiff_t>((ranks_ - 1) / 2);
            std::nth_element(column.begin(), middle, column.end());
            base_[i] = *middle;
        }
    });
    typical_ = base_.empty() ? 0 : quantile(base_, 0.5);
}

Gain RunModel::gain_without(const std::vector<RankExcess>& parts) const {
    std::vector<const RankExcess*> of_rank(ranks_);
    for (const RankExcess& part : parts) of_rank[part.rank] = &part;
    std::vector<float> before(iterations_), after(iterations_);
    double longest_before = 0, longest_after = 0;
    for (std::size_t r = 0; r < ranks_; ++r) {
        double sum_before = 0, sum_after = 0;
        for (std::size_t i = 0; i < iterations_; ++i) {
            const float now = local(r, i), then = of_rank[r] == nullptr ? now : now - of_rank[r]->ns[i];
            before[i] = std::max(before[i], now);
            after[i] = std::max(after[i], then);
            sum_before += now;
            sum_after += then;
        }
        longest_before = std::max(longest_before, sum_before);
        longest_after = std::max(longest_after, sum_after);
    }
    double together = 0;
    for (std::size_t i = 0; i < iterations_; ++i) together += static_cast<double>(before[i]) - after[i];
    together = std::max(together, 0.0);
    const double alone = std::max(0.0, longest_before - longest_after);
    return {meets_always_ ? together : (together + alone) / 2, std::min(together, alone), std::max(together, alone)};
}

void RunModel::remove(const std::vector<RankExcess>& parts) {
    for (const RankExcess& part : parts)
        for (std::size_t i = 0; i < iterations_; ++i) cell(part.rank, i) = std::max(0.0f, local(part.rank, i) - part.ns[i]);
    find_base();
    find_jitter();
}

} // namespace libprofile::tools
