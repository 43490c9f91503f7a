#include "tools/structure/iteration_alignment.hpp"

#include "libprofile/base/hashing.hpp"
#include "tools/structure/banded_alignment.hpp"
#include "tools/text/named_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace libprofile::tools {

namespace {

constexpr std::array<const char*, align_by_count> names = {"structure", "work", "step", "progress"};

constexpr std::size_t most_edits = 40'000; // what differs more is aligned by something else
constexpr std::size_t most_cells = 40'000'000;
constexpr std::size_t least_band = 200; // iterations
constexpr double other_calls = 0.25;    // the difference of a pair that does equal work by other calls
constexpr double no_worse = 0.02;       // cost: then the candidate that says more is taken

using Partners = std::vector<std::uint32_t>;
using Numbers = std::vector<std::uint64_t>;

/// Of the iterations of both runs; equal numbers are equal iterations.
struct Description {
    Numbers a, b;
};

/// Where the order is not known, it is 0, so the number alone decides.
Numbers in_order(const Numbers& numbers, const Numbers& orders) {
    Numbers result;
    for (std::size_t i = 0; i < numbers.size(); ++i) result.push_back(mix(numbers[i] + golden) ^ orders[i]);
    return result;
}

/// The finest first. Bytes tell more iterations apart than the order does, so they also count without it: all iterations may have swapped phases.
std::vector<Description> descriptions_of(const RunIterations& a, const RunIterations& b) {
    std::vector<Description> result = {{a.counts, b.counts}, {a.visits, b.visits}, {a.call_paths, b.call_paths}};
    const auto has_order = [](const RunIterations& run) {
        return std::any_of(run.orders.begin(), run.orders.end(), [](std::uint64_t order) { return order != 0; });
    };
    if (a.ranks != b.ranks || !has_order(a) || !has_order(b)) return result;
    result.insert(result.begin() + 1, {in_order(a.visits, a.orders), in_order(b.visits, b.orders)});
    result.insert(result.begin(), {in_order(a.counts, a.orders), in_order(b.counts, b.orders)});
    return result;
}

double typical(std::vector<float> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// How different two amounts are, 0 to 1.
double relative(double x, double y) {
    const double larger = std::max(x, y);
    return larger > 0 ? std::abs(x - y) / larger : 0;
}

class Aligner {
  public:
    Aligner(const RunIterations& a, const RunIterations& b)
        : a_(a), b_(b), descriptions_(descriptions_of(a, b)), structure_(has_structure(a) && has_structure(b) ? by_structure() : std::nullopt) {
        const Partners known = structure_ ? *structure_ : by_step();
        const auto add = [&](const std::vector<float>& of_a, const std::vector<float>& of_b) {
            const double x = typical(of_a), y = typical(of_b);
            if (x <= 0 || y <= 0) return;
            // Everywhere twice the bytes are no sign that iterations are others.
            double as_it_is = 0, scaled = 0;
            for (std::size_t i = 0; i < known.size(); ++i)
                if (known[i] != no_partner) {
                    as_it_is += relative(of_a[i], of_b[known[i]]);
                    scaled += relative(of_a[i] * y / x, of_b[known[i]]);
                }
            amounts_.push_back({of_a, of_b, scaled < as_it_is ? y / x : 1});
        };
        add(a.calls, b.calls);
        add(a.bytes, b.bytes);
        add(a.instructions, b.instructions);
    }

    std::optional<IterationAlignment> by(AlignBy by) const {
        std::optional<Partners> partners = by == AlignBy::Structure  ? structure_
                                           : by == AlignBy::Work     ? by_work()
                                           : by == AlignBy::Progress ? by_progress()
                                                                     : by_step();
        if (!partners) return std::nullopt;
        IterationAlignment result{by, std::move(*partners)};
        result.is_known = a_.is_known && b_.is_known;
        double differences = 0;
        for (std::size_t i = 0; i < n(); ++i) {
            const std::uint32_t j = result.partner[i];
            if (j == no_partner) continue;
            ++result.pairs;
            result.different += has_same_calls(i, j) ? 0 : 1;
            result.reordered += has_same_calls(i, j) && has_other_order(i, j) ? 1 : 0;
            differences += difference(i, j);
        }
        const auto all = static_cast<double>(n() + m()), pairs = static_cast<double>(result.pairs);
        result.cost = all == 0 ? 0 : (2 * differences + all - 2 * pairs) / all;
        return result;
    }

  private:
    struct Amount {
        const std::vector<float>&a, &b;
        double scale; // of b to a, between typical iterations
    };

    /// The calls of some iteration are known.
    static bool has_structure(const RunIterations& run) {
        return run.is_known || std::any_of(run.visits.begin(), run.visits.end(), [](std::uint64_t visits) { return visits != 0; });
    }

    std::size_t n() const { return a_.size(); }
    std::size_t m() const { return b_.size(); }

    /// Of other numbers of ranks there are other numbers of calls.
    bool has_same_calls(std::size_t i, std::size_t j) const {
        return a_.ranks == b_.ranks ? a_.visits[i] == b_.visits[j] : a_.call_paths[i] == b_.call_paths[j];
    }

    bool has_other_order(std::size_t i, std::size_t j) const {
        const auto order = [](const RunIterations& run, std::size_t at) { return run.orders.empty() ? 0 : run.orders[at]; };
        return a_.ranks == b_.ranks && order(a_, i) != 0 && order(b_, j) != 0 && order(a_, i) != order(b_, j);
    }

    /// Of two iterations, 0 to 1. Their order is no difference in work.
    double difference(std::size_t i, std::size_t j) const {
        double most = has_same_calls(i, j) ? 0 : other_calls;
        for (const Amount& amount : amounts_) most = std::max(most, relative(amount.a[i] * amount.scale, amount.b[j]));
        return most;
    }

    /// Pairs of iterations that are equal in the finest description, between them those that are so in a coarser one. Where equal numbers of bytes
    /// come about by chance, the finest descriptions tear apart what belongs together; then it begins with a coarser one.
    std::optional<Partners> by_structure() const {
        std::optional<Partners> best;
        std::ptrdiff_t most = -1;
        for (std::size_t first = 0; first < descriptions_.size(); ++first) {
            Partners partners(n(), no_partner);
            bool has_script = false;
            for (std::size_t d = first; d < descriptions_.size(); ++d) has_script |= pair_equal_between(partners, descriptions_[d]);
            if (!has_script) continue;
            std::ptrdiff_t equal = 0;
            for (std::size_t i = 0; i < n(); ++i) equal += partners[i] != no_partner && a_.call_paths[i] == b_.call_paths[partners[i]] ? 1 : 0;
            if (equal <= most) continue;
            most = equal;
            best = std::move(partners);
        }
        if (best) pair_in_gaps(*best, m());
        return best;
    }

    /// Calls visit(i, end, j, last) for iterations i to before end of the first run, and j to before last of the second one, that no pairs divide.
    template <class Visit> void for_each_gap(const Partners& partners, Visit visit) const {
        const Partners before = partners; // visit() may change it
        for (std::size_t i = 0, j = 0;;) {
            std::size_t end = i;
            while (end < n() && before[end] == no_partner) ++end;
            const std::size_t last = end < n() ? before[end] : m();
            if (end > i && last > j) visit(i, end, j, last);
            if (end == n()) return;
            i = end + 1;
            j = last + 1;
        }
    }

    /// False: so much is different in some place that nothing was done there.
    bool pair_equal_between(Partners& partners, const Description& description) const {
        bool is_done = true;
        for_each_gap(partners, [&](std::size_t i, std::size_t end, std::size_t j, std::size_t last) {
            const std::span of_a(description.a), of_b(description.b);
            const std::optional<Partners> inside = partners_of(of_a.subspan(i, end - i), of_b.subspan(j, last - j), most_edits);
            is_done = is_done && inside;
            if (!inside) return;
            for (std::size_t k = 0; k < inside->size(); ++k)
                if ((*inside)[k] != no_partner) partners[i + k] = static_cast<std::uint32_t>(j + (*inside)[k]);
        });
        return is_done;
    }

    std::optional<Partners> by_work() const {
        if (amounts_.empty()) return std::nullopt;
        const std::size_t more = n() > m() ? n() - m() : m() - n(), slack = more + least_band;
        if (cells_of_band(n(), m(), slack) > most_cells) return std::nullopt;
        const auto alone = [](std::size_t) { return 1.0; };
        const std::vector<AlignmentStep> steps = cheapest_steps(
            n(), m(), slack, [&](std::size_t i, std::size_t j) { return 2 * difference(i, j); }, alone, alone);
        Partners partners(n(), no_partner);
        std::uint32_t i = 0, j = 0;
        for (const AlignmentStep step : steps) {
            if (step == AlignmentStep::Both) partners[i] = j;
            if (step != AlignmentStep::OnlyB) ++i;
            if (step != AlignmentStep::OnlyA) ++j;
        }
        return partners;
    }

    Partners by_step() const {
        Partners partners(n(), no_partner);
        for (std::size_t i = 0; i < std::min(n(), m()); ++i) partners[i] = static_cast<std::uint32_t>(i);
        return partners;
    }

    /// Of the run with more iterations, those that come next to the others' places have a partner.
    Partners by_progress() const {
        Partners partners(n(), no_partner);
        const std::size_t pairs = std::min(n(), m());
        const auto place = [&](std::size_t k, std::size_t all) { return pairs < 2 ? 0 : k * (all - 1) / (pairs - 1); };
        for (std::size_t k = 0; k < pairs; ++k) partners[place(k, n())] = static_cast<std::uint32_t>(place(k, m()));
        return partners;
    }

    const RunIterations &a_, &b_;
    std::vector<Description> descriptions_;
    std::optional<Partners> structure_; // uses those above
    std::vector<Amount> amounts_;
};

} // namespace

const char* align_by_name(AlignBy by) { return names[static_cast<std::size_t>(by)]; }

std::optional<AlignBy> align_by_named(std::string_view name) { return named_choice<AlignBy>(names, name); }

IterationAlignment align_iterations(const RunIterations& a, const RunIterations& b, std::optional<AlignBy> forced) {
    const Aligner aligner(a, b);
    if (forced) {
        if (std::optional<IterationAlignment> one = aligner.by(*forced)) return *std::move(one);
        return *aligner.by(AlignBy::Step);
    }
    std::vector<IterationAlignment> tried;
    double least = 1;
    for (std::size_t by = 0; by < align_by_count; ++by)
        if (std::optional<IterationAlignment> one = aligner.by(static_cast<AlignBy>(by))) {
            least = std::min(least, one->cost);
            tried.push_back(*std::move(one));
            if (least <= no_worse) break; // none can be better by more
        }
    return *std::find_if(tried.begin(), tried.end(), [&](const IterationAlignment& one) { return one.cost <= least + no_worse; });
}

} // namespace libprofile::tools
