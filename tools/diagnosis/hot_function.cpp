#include "tools/diagnosis/hot_function.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

constexpr double function_has = 0.6;      // of the excess: then a function has it
constexpr double function_has_more = 0.3; // of the excess, than its usual share

/// Sums over a node and all below it.
std::vector<double> inclusive(const NamedSpots& names, std::vector<double> ns) {
    for (std::size_t n = ns.size(); n-- > 1;) ns[static_cast<std::size_t>(names.tree.nodes[n].parent)] += ns[n];
    return ns;
}

double error_below(const NamedSpots& names, const IterationSums& sums, std::uint32_t node) {
    std::vector<bool> is_below(names.tree.nodes.size());
    is_below[node] = true;
    SampledParts parts = sums.sampled_at[node];
    for (std::size_t n = node + 1; n < is_below.size(); ++n) {
        if (!is_below[static_cast<std::size_t>(names.tree.nodes[n].parent)]) continue;
        is_below[n] = true;
        add_parts(parts, sums.sampled_at[n]);
    }
    return error_of(sums, parts);
}

/// From the outermost function down, as long as one of those that are called has most of the excess; or clearly more of it than its usual share, and
/// the others do not: iterations of one cluster share their samples, which hides a part of what they differ by.
class HotFunctionSearch {
  public:
    HotFunctionSearch(const NamedSpots& names, const IterationSums& here, const IterationSums& there, double excess, double usual)
        : names_(names), here_(here), there_(there), more_(inclusive(names, here.node_ns)), less_(inclusive(names, there.node_ns)), excess_(excess),
          all_(usual), usual_(usual <= 0 ? 0 : excess / usual) {}

    HotFunction find() const {
        std::uint32_t found = 0;
        for (std::uint32_t at = 0; excess_ > 0 && (at = next(at)) != 0;) {
            // What the kernel or the C library does is less than who asks for it.
            const NodeKind kind = names_.tree.nodes[at].kind;
            if ((kind == NodeKind::Frame || kind == NodeKind::Python) && !names_.is_system[at]) found = at;
        }
        if (found == 0) return {};
        return {found, here_.per_iteration(more_[found]), there_.per_iteration(less_[found]), error(found), all_, false};
    }

  private:
    double difference(std::uint32_t n) const { return here_.per_iteration(more_[n]) - there_.per_iteration(less_[n]); }
    double surplus(std::uint32_t n) const { return difference(n) - usual_ * there_.per_iteration(less_[n]); }
    /// Of the function itself, without what it calls.
    double own_surplus(std::uint32_t n) const {
        const double there = there_.per_iteration(there_.node_ns[n]);
        return here_.per_iteration(here_.node_ns[n]) - there - usual_ * there;
    }
    double error(std::uint32_t n) const { return std::hypot(error_below(names_, here_, n), error_below(names_, there_, n)); }

    std::uint32_t next(std::uint32_t at) const {
        std::uint32_t most = 0, first = 0, second = 0;
        for (const std::uint32_t n : names_.tree.nodes[at].children) {
            if (most == 0 || difference(n) > difference(most)) most = n;
            if (first == 0 || surplus(n) > surplus(first)) {
                second = first;
                first = n;
            } else if (second == 0 || surplus(n) > surplus(second)) {
                second = n;
            }
        }
        if (most == 0 || difference(most) >= function_has * excess_) return most;
        const double rest = std::max(second == 0 ? 0 : surplus(second), own_surplus(at));
        const bool is_alone = rest <= 0.5 * surplus(first);
        return is_alone && surplus(first) >= function_has_more * excess_ && surplus(first) > 1.5 * error(first) ? first : 0;
    }

    const NamedSpots& names_;
    const IterationSums& here_;
    const IterationSums& there_;
    const std::vector<double> more_, less_; // by node, with all below it
    const double excess_, all_, usual_;
};

} // namespace

HotFunction find_hot_function(const NamedSpots& names, const IterationSums& here, const IterationSums& there, double excess, double usual) {
    return HotFunctionSearch(names, here, there, excess, usual).find();
}

} // namespace libprofile::tools
