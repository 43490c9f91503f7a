// How long each pixel of a row is in what: sums while they grow.
// Contract: one thread; memory of n * kinds numbers; throws std::bad_alloc only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace libprofile::tools {

class PixelSums {
  public:
    /// Pixel i of n lies between from + i * (to - from) / n and the next one. @param kinds of things
    PixelSums(double from, double to, std::size_t n, std::size_t kinds)
        : from_(from), per_pixel_((to - from) / static_cast<double>(n)), kinds_(kinds), sums_(n * kinds), longest_(n), count_(n) {}

    /// Calls add_share(x, share) for the pixels of a stretch of time, with the share of it that lies in each.
    template <class AddShare> void spread(double begin, double end, std::uint64_t longest, AddShare add_share) {
        const double first = std::max(0.0, (begin - from_) / per_pixel_), last = std::min(static_cast<double>(count_), (end - from_) / per_pixel_);
        if (!(first < last) || !(begin < end)) return;
        for (auto x = static_cast<std::size_t>(first); x < count_ && static_cast<double>(x) < last; ++x) {
            const double inside = std::min(last, static_cast<double>(x + 1)) - std::max(first, static_cast<double>(x));
            if (inside <= 0) continue;
            add_share(x, inside * per_pixel_ / (end - begin));
            longest_[x] = std::max(longest_[x], longest);
        }
    }
    void add(std::size_t x, std::size_t kind, double ns) { sums_[x * kinds_ + kind] += ns; }
    /// All of a stretch is of a kind.
    void add_piece(std::uint64_t begin, std::uint64_t end, std::size_t kind, std::uint64_t longest) {
        const double ns = static_cast<double>(end - begin);
        spread(static_cast<double>(begin), static_cast<double>(end), longest, [&](std::size_t x, double share) { add(x, kind, ns * share); });
    }

    std::size_t count() const { return count_; }
    double per_pixel() const { return per_pixel_; }
    double sum(std::size_t x, std::size_t kind) const { return sums_[x * kinds_ + kind]; }
    std::uint64_t longest(std::size_t x) const { return longest_[x]; }
    /// ns of the kinds from one on.
    double all(std::size_t x, std::size_t first = 0) const {
        double all = 0;
        for (std::size_t kind = first; kind < kinds_; ++kind) all += sum(x, kind);
        return all;
    }
    /// The kind with most time, of several the first.
    std::size_t most(std::size_t x, std::size_t first = 0) const {
        std::size_t most = first;
        for (std::size_t kind = first; kind < kinds_; ++kind)
            if (sum(x, kind) > sum(x, most)) most = kind;
        return most;
    }
    /// More than roundings.
    bool is_some(double ns) const { return ns > per_pixel_ * 1e-6; }

  private:
    double from_, per_pixel_;
    std::size_t kinds_;
    std::vector<double> sums_; // by pixel, then kind
    std::vector<std::uint64_t> longest_;
    std::size_t count_;
};

} // namespace libprofile::tools
