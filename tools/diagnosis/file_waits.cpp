#include "tools/diagnosis/file_waits.hpp"

#include <cmath>
#include <vector>

namespace libprofile::tools {

namespace {

constexpr double hardly = 0.2;          // of what is here
constexpr double enough = 0.002;        // of the time off the processor: less is something else
constexpr double most_off = 0.6;        // of the time off the processor: then it is in one function
constexpr double hardly_computes = 0.5; // of the time off the processor

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

/// The function that is known to have been off the processor most of the time, and what it does else.
class PlaceSearch {
  public:
    PlaceSearch(const NamedSpots& names, const IterationSums& here, const IterationSums& there) : names_(names), here_(here), there_(there) {}

    /// What is told by it; nothing if it tells nothing.
    FileWait find(double off_cpu) const {
        FileWait wait;
        const auto& nodes = names_.tree.nodes;
        for (std::uint32_t n = 1; n < nodes.size(); ++n) {
            if (nodes[n].kind != NodeKind::OffCpu || nodes[n].parent == 0) continue;
            const double off = here_.per_iteration(here_.node_ns[n]) - there_.per_iteration(there_.node_ns[n]);
            if (off > wait.place_off) wait.place_off = off, wait.place = static_cast<std::uint32_t>(nodes[n].parent);
        }
        if (wait.place == 0 || wait.place_off < most_off * off_cpu) return {};
        std::vector<bool> is_inside(nodes.size());
        is_inside[wait.place] = true;
        double most = 0;
        for (std::uint32_t n = wait.place; n < nodes.size(); ++n) {
            is_inside[n] = is_inside[n] || is_inside[static_cast<std::size_t>(nodes[n].parent)];
            if (!is_inside[n] || !is_code(nodes[n].kind)) continue;
            const double here = here_.node_ns[n], all = here + there_.node_ns[n];
            wait.place_on += here_.per_iteration(here);
            if (all <= 0 || names_.sleeps[n] == SleepKind::None) continue;
            if (names_.sleeps[n] == SleepKind::Other) return {};
            if (all > most) most = all, wait.function = n;
        }
        if (wait.function == 0 || wait.place_on > hardly_computes * wait.place_off) return {};
        wait.is_told = true;
        return wait;
    }

  private:
    const NamedSpots& names_;
    const IterationSums& here_;
    const IterationSums& there_;
};

/// The function of the program or of a library that calls it.
std::uint32_t caller_of_file(const NamedSpots& names, std::uint32_t function) {
    while (function != 0 && (names.sleeps[function] == SleepKind::Files || names.is_system[function]))
        function = static_cast<std::uint32_t>(names.tree.nodes[function].parent);
    return function;
}

} // namespace

FileWait file_wait(const NamedSpots& names, const IterationSums& here, const IterationSums& there, double off_cpu) {
    if (off_cpu <= 0) return {};
    const KindSearch search(names, here, there);
    const KindOfTime files = search.of(SleepKind::Files), others = search.of(SleepKind::Other);
    const bool is_told = files.is_told() && files.more() >= enough * off_cpu && others.more() < hardly * files.more();
    if (is_told) return {files.outermost, caller_of_file(names, files.outermost), files.here, files.there, 0, 0, 0, true};
    if (FileWait placed = PlaceSearch(names, here, there).find(off_cpu); placed.is_told) {
        placed.caller = caller_of_file(names, placed.function);
        return placed;
    }
    if (files.here <= 0 || files.there > 0 || others.here > 0) return {};
    return {files.outermost, caller_of_file(names, files.outermost), files.here, files.there, 0, 0, 0, false};
}

} // namespace libprofile::tools
