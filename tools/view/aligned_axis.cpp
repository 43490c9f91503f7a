#include "tools/view/aligned_axis.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

class AxisMaker {
  public:
    AxisMaker(std::uint64_t places, std::size_t most_points) {
        axis_.places = places;
        axis_.window = std::max<std::uint64_t>(1, (places + most_points - 1) / most_points);
        axis_.points.resize((places + axis_.window - 1) / axis_.window);
    }

    /// Iterations without a partner.
    void skip(std::uint64_t number, std::uint64_t AxisPoint::*counter) {
        for (; number != 0; --number) ++(next().*counter);
    }

    void add(const AlignedPair& pair) {
        axis_.place_of_pair.push_back(at_);
        AxisPoint& point = next();
        const bool is_first = point.pairs++ == 0;
        const auto extend = [&](double value, double& least, double& most) {
            least = is_first ? value : std::min(least, value);
            most = is_first ? value : std::max(most, value);
        };
        point.ns_before += pair.ns_before;
        point.ns_after += pair.ns_after;
        extend(pair.ns_before, point.least_before, point.most_before);
        extend(pair.ns_after, point.least_after, point.most_after);
        extend(pair.ns_after - pair.ns_before, point.least_difference, point.most_difference);
    }

    AlignedAxis made() { return std::move(axis_); }

  private:
    AxisPoint& next() { return axis_.points[at_++ / axis_.window]; }

    AlignedAxis axis_;
    std::uint64_t at_ = 0; // the next place
};

} // namespace

AlignedAxis aligned_axis(const std::vector<AlignedPair>& pairs, IterationSpan before, IterationSpan after, std::size_t most_points) {
    AxisMaker maker(before.size() + after.size() - pairs.size(), most_points);
    for (const AlignedPair& pair : pairs) {
        maker.skip(pair.before - before.first, &AxisPoint::alone_before);
        maker.skip(pair.after - after.first, &AxisPoint::alone_after);
        maker.add(pair);
        before.first = pair.before + 1;
        after.first = pair.after + 1;
    }
    maker.skip(before.size(), &AxisPoint::alone_before);
    maker.skip(after.size(), &AxisPoint::alone_after);
    return maker.made();
}

} // namespace libprofile::tools
