#include "tools/diagnosis/tree_cut.hpp"

#include <cmath>
#include <utility>

namespace libprofile::tools {

namespace {

class TreeCutter {
  public:
    TreeCutter(const NamedSpots& names, const IterationSums& here, const IterationSums& there)
        : names_(names), here_(here), there_(there), parts_here_(here.sampled_at), parts_there_(there.sampled_at), open_(names.tree.nodes.size()) {
        const auto& nodes = names_.tree.nodes;
        for (std::size_t n = 1; n < nodes.size(); ++n)
            if (is_code(nodes[n].kind)) all_ += open_[n] = {here_.per_iteration(here_.node_ns[n]), there_.per_iteration(there_.node_ns[n])};
        for (std::size_t n = nodes.size(); n-- > 1;)
            if (is_enough(open_[n]))
                add(n);
            else
                leave_to_caller(n);
        if (is_enough(open_[0])) add(0);
    }

    TreeCut cut() && { return {all_.here, all_.there, std::move(functions_)}; }

  private:
    static constexpr double enough = 0.03, most = 0.5; // of the time of either side; of the difference
    struct Means {
        double here = 0, there = 0; // ns an iteration
        void operator+=(const Means& more) { here += more.here, there += more.there; }
    };

    bool is_enough(const Means& means) const {
        const double longer = all_.here - all_.there;
        return means.here >= enough * all_.here || means.there >= enough * all_.there || (longer > 0 && means.here - means.there >= most * longer);
    }
    void add(std::size_t n) {
        constexpr double deviations = 1.96; // that sampling errors hold
        const double error = std::hypot(error_of(here_, parts_here_[n]), error_of(there_, parts_there_[n])) / deviations;
        functions_.push_back({open_[n].here, open_[n].there, error});
    }
    void leave_to_caller(std::size_t n) {
        const auto parent = static_cast<std::size_t>(names_.tree.nodes[n].parent);
        open_[parent] += open_[n];
        add_parts(parts_here_[parent], parts_here_[n]);
        add_parts(parts_there_[parent], parts_there_[n]);
    }

    const NamedSpots& names_;
    const IterationSums& here_;
    const IterationSums& there_;
    std::vector<SampledParts> parts_here_, parts_there_; // by node, with what was closed below it
    std::vector<Means> open_;                            // the same
    Means all_;
    std::vector<ComparedFunction> functions_;
};

} // namespace

TreeCut cut_tree(const NamedSpots& names, const IterationSums& here, const IterationSums& there) { return TreeCutter(names, here, there).cut(); }

} // namespace libprofile::tools
