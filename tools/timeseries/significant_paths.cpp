#include "tools/timeseries/significant_paths.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

class Choice {
  public:
    Choice(const std::vector<NodeLoss>& losses, double NodeLoss::*loss, double NodeLoss::*sum, double least, double ratio)
        : losses_(losses), loss_(loss), sum_(sum), least_(least), ratio_(ratio) {}

    /// Those chosen of a node and all below it.
    void add(std::uint32_t at, std::vector<std::uint32_t>& chosen) const {
        if (!is_significant(at)) {
            for (std::uint32_t child = at + 1; child < losses_[at].end; child = losses_[child].end) add(child, chosen);
            return;
        }
        while (const std::uint32_t origin = child_with_most_of(at)) at = origin;
        chosen.push_back(at);
    }

  private:
    bool is_significant(std::uint32_t at) const {
        const double loss = losses_[at].*loss_;
        return loss > least_ && loss > ratio_ * losses_[at].*sum_;
    }
    /// 0: there is none.
    std::uint32_t child_with_most_of(std::uint32_t at) const {
        for (std::uint32_t child = at + 1; child < losses_[at].end; child = losses_[child].end)
            if (is_significant(child) && losses_[child].*loss_ > ratio_ * losses_[at].*loss_) return child;
        return 0;
    }

    const std::vector<NodeLoss>& losses_;
    double NodeLoss::*loss_;
    double NodeLoss::*sum_;
    double least_, ratio_;
};

} // namespace

std::vector<SignificantPath> significant_paths(const std::vector<NodeLoss>& losses, double run_time, const TimeSeriesParameters& parameters) {
    std::vector<SignificantPath> paths;
    if (losses.empty()) return paths;
    const double least = parameters.significance_ratio * run_time;
    std::vector<std::uint32_t> imbalanced, waiting;
    Choice(losses, &NodeLoss::imb, &NodeLoss::sum_imb, least, parameters.origin_depth_ratio).add(0, imbalanced);
    Choice(losses, &NodeLoss::wait, &NodeLoss::sum_wait, least, parameters.origin_depth_ratio).add(0, waiting);
    for (const std::uint32_t at : imbalanced) paths.push_back({at, true, std::binary_search(waiting.begin(), waiting.end(), at)});
    for (const std::uint32_t at : waiting)
        if (!std::binary_search(imbalanced.begin(), imbalanced.end(), at)) paths.push_back({at, false, true});
    std::sort(paths.begin(), paths.end(), [](const SignificantPath& a, const SignificantPath& b) { return a.loss < b.loss; });
    return paths;
}

} // namespace libprofile::tools
