#include "tools/export/phase_nodes.hpp"

#include "tools/analysis/hot_spots.hpp"
#include "tools/analysis/totals.hpp"

#include <limits>

namespace libprofile::tools {

namespace {

class CommonFunction {
  public:
    CommonFunction(const Profile& profile, const std::vector<FunctionNode>& tree, const std::vector<std::uint32_t>& function_of_path)
        : profile_(profile), tree_(tree), function_of_path_(function_of_path), depth_(tree.size()) {
        for (std::size_t n = 1; n < tree.size(); ++n) depth_[n] = depth_[static_cast<std::size_t>(tree[n].parent)] + 1;
        find_only_phases();
    }

    /// 0: there is none.
    std::uint32_t of(std::uint32_t phase) const {
        std::uint32_t common = 0;
        bool any = false;
        for (const Location* location : main_threads(profile_)) {
            const PhaseData* data = find_phase(location, phase);
            if (data == nullptr) continue;
            for_each_cell(*data, [&](const Cell& cell) {
                const std::uint32_t function = function_of(cell.path);
                if (function == 0) return;
                common = any ? shared(common, function) : function;
                any = true;
            });
        }
        while (common != 0 && only_phase_[common] == phase && tree_[common].parent != 0) common = static_cast<std::uint32_t>(tree_[common].parent);
        return common;
    }

  private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max(), several = none - 1;

    void find_only_phases() {
        only_phase_.assign(tree_.size(), none);
        const auto mark = [&](std::uint32_t function, std::uint32_t phase) {
            std::uint32_t& only = only_phase_[function];
            only = only == none || only == phase ? phase : several;
        };
        for (const Location* location : main_threads(profile_))
            if (location != nullptr)
                for (const PhaseData& data : location->phases) for_each_cell(data, [&](const Cell& cell) { mark(function_of(cell.path), data.phase); });
        for (std::size_t n = tree_.size(); n-- > 1;)
            if (only_phase_[n] != none) mark(static_cast<std::uint32_t>(tree_[n].parent), only_phase_[n]);
    }

    /// What the cell was called from; 0 for those that no function is known of.
    std::uint32_t function_of(std::uint32_t path) const {
        while (path != 0 && !is_function(profile_.paths[path].kind)) path = profile_.paths[path].parent;
        const std::uint32_t function = function_of_path_[path];
        std::uint32_t top = function;
        while (top != 0 && tree_[top].parent != 0) top = static_cast<std::uint32_t>(tree_[top].parent);
        return top == 0 || tree_[top].kind == NodeKind::Partial ? 0 : function;
    }
    static bool is_function(NodeKind kind) { return is_code(kind) || kind == NodeKind::Unknown; }

    std::uint32_t shared(std::uint32_t a, std::uint32_t b) const {
        while (a != b) {
            std::uint32_t& deeper = depth_[a] >= depth_[b] ? a : b;
            deeper = static_cast<std::uint32_t>(tree_[deeper].parent);
        }
        return a;
    }

    const Profile& profile_;
    const std::vector<FunctionNode>& tree_;
    const std::vector<std::uint32_t>& function_of_path_;
    std::vector<std::uint32_t> depth_;
    std::vector<std::uint32_t> only_phase_; // of all that a function has called
};

} // namespace

PhaseNodes::PhaseNodes(const Profile& profile) : path_(profile.phases.size()) {
    std::vector<const Location*> all;
    for (const Location& location : profile.locations) all.push_back(&location);
    const std::vector<FunctionNode> tree = function_tree(profile, all, false, &function_of_path_);
    std::vector<std::uint32_t> first(tree.size()); // a parent's number is smaller: the first is nearest to the root
    for (std::uint32_t p = static_cast<std::uint32_t>(profile.paths.size()); p-- > 1;) first[function_of_path_[p]] = p;
    const CommonFunction common(profile, tree, function_of_path_);
    for (std::uint32_t phase = 0; phase < profile.phases.size(); ++phase)
        if (const std::uint32_t function = profile.phases[phase].name.empty() ? 0 : common.of(phase); function != 0) path_[phase] = first[function];
}

} // namespace libprofile::tools
