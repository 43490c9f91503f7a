#include "tools/diagnosis/file_waits.hpp"

#include <cmath>

namespace libprofile::tools {

namespace {

constexpr double hardly = 0.2;   // of what is here
constexpr double enough = 0.002; // of the time off the processor: less is something else

/// Processor time in functions of some kind, with all below them.
struct KindOfTime {
    double here = 0, there = 0, error = 0;
    std::uint32_t outermost = 0; // such function with the largest difference

    double more() const { return here - there; }
    bool is_told() const { return more() > error && there <= hardly * here; }
};

class KindSearch {
  public:
    KindSearch(const NamedSpots& names, const IterationSums& here, const IterationSums& there) : names_(names), here_(here), there_(there) {}

    KindOfTime of(SleepKind kind) const {
        KindOfTime time;
        const auto& nodes = names_.tree.nodes;
        SampledParts parts_here, parts_there;
        std::vector<double> more(nodes.size()); // by outermost function
        for (std::uint32_t n = 1; n < nodes.size(); ++n) {
            if (names_.sleeps[n] != kind || !is_code(nodes[n].kind)) continue;
            std::uint32_t outermost = n;
            for (auto p = static_cast<std::uint32_t>(nodes[n].parent); names_.sleeps[p] == kind; p = static_cast<std::uint32_t>(nodes[p].parent)) outermost = p;
            const double mine = here_.per_iteration(here_.node_ns[n]), other = there_.per_iteration(there_.node_ns[n]);
            time.here += mine;
            time.there += other;
            more[outermost] += mine - other;
            if (time.outermost == 0 || more[outermost] > more[time.outermost]) time.outermost = outermost;
            add_parts(parts_here, here_.sampled_at[n]);
            add_parts(parts_there, there_.sampled_at[n]);
        }
        time.error = std::hypot(error_of(here_, parts_here), error_of(there_, parts_there));
        return time;
    }

  private:
    const NamedSpots& names_;
    const IterationSums& here_;
    const IterationSums& there_;
};

} // namespace

FileWait file_wait(const NamedSpots& names, const IterationSums& here, const IterationSums& there, double off_cpu) {
    if (off_cpu <= 0) return {};
    const KindSearch search(names, here, there);
    const KindOfTime files = search.of(SleepKind::Files), others = search.of(SleepKind::Other);
    const bool is_told = files.is_told() && files.more() >= enough * off_cpu && others.more() < hardly * files.more();
    if (!is_told && (files.here <= 0 || files.there > 0 || others.here > 0)) return {};
    std::uint32_t caller = files.outermost;
    while (caller != 0 && (names.sleeps[caller] == SleepKind::Files || names.is_system[caller]))
        caller = static_cast<std::uint32_t>(names.tree.nodes[caller].parent);
    return {files.outermost, caller, files.here, files.there, is_told};
}

} // namespace libprofile::tools
