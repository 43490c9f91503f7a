#include "tools/frames/unify.hpp"

#include "tools/frames/matching_name.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace libprofile::tools {

namespace {

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

std::string_view base_of(std::string_view path) { return path.substr(path.rfind('/') + 1); } // npos + 1 is 0

/// The union of the trees so far, with an index of the children.
class CommonTree {
  public:
    explicit CommonTree(const Frame& first) {
        for (std::uint32_t n = 0; n < first.nodes.size(); ++n) copy(first, n, n == 0 ? 0 : first.nodes.parent[n]);
    }

    Frame& frame() { return frame_; }
    const Frame& frame() const { return frame_; }
    const std::vector<std::uint32_t>& children(std::uint32_t node) const { return children_[node]; }
    std::uint32_t name(std::uint32_t node) const { return names_[node]; }
    /// The number that names of other frames are compared by.
    std::uint32_t name_number(std::string_view name) { return short_names_.number(matching_name(name)); }

    /// Adds a node of a frame below `parent`.
    std::uint32_t copy(const Frame& from, std::uint32_t node, std::uint32_t parent) {
        const FrameNodes& nodes = from.nodes;
        const std::uint32_t added = frame_.add_node(parent, from.texts[nodes.kind[node]], from.name_of(node), from.texts[nodes.file[node]], nodes.line[node],
                                                    from.texts[nodes.module[node]]);
        names_.push_back(name_number(from.name_of(node)));
        children_.emplace_back();
        if (added != 0) children_[parent].push_back(added);
        return added;
    }

  private:
    Frame frame_;
    TextPool short_names_;
    std::vector<std::uint32_t> names_;                 // by node
    std::vector<std::vector<std::uint32_t>> children_; // by node
};

/// Matches one more frame with the common tree, and adds what is new.
class Matcher {
  public:
    Matcher(CommonTree& tree, const Frame& frame, std::size_t run, std::vector<Renamed>& renamed)
        : tree_(tree), frame_(frame), run_(run), renamed_(renamed), children_(frame.nodes.size()), common_(frame.nodes.size(), none) {
        for (std::uint32_t n = 0; n < frame.nodes.size(); ++n) {
            names_.push_back(tree.name_number(frame.name_of(n)));
            if (n != 0) children_[frame.nodes.parent[n]].push_back(n);
        }
        own_names_.insert(names_.begin(), names_.end());
        for (std::uint32_t n = 0; n < tree.frame().nodes.size(); ++n) names_before_.insert(tree.name(n));
    }

    std::vector<std::uint32_t> match() {
        if (!common_.empty()) common_[0] = 0;
        // Parents come first, so a node's caller is matched before it.
        for (std::uint32_t n = 0; n < frame_.nodes.size(); ++n) match_children(n);
        return std::move(common_);
    }

  private:
    int likeness(std::uint32_t node, std::uint32_t common) const {
        const Frame& all = tree_.frame();
        const std::string_view file = frame_.texts[frame_.nodes.file[node]], other = all.texts[all.nodes.file[common]];
        const std::string_view module = frame_.texts[frame_.nodes.module[node]], module_there = all.texts[all.nodes.module[common]];
        return 8 * (base_of(file) == base_of(other)) + 4 * (base_of(module) == base_of(module_there)) +
               2 * (frame_.nodes.line[node] == all.nodes.line[common]) + (file == other);
    }

    bool is_taken(std::uint32_t common) const { return common < taken_.size() && taken_[common]; }
    void take(std::uint32_t node, std::uint32_t common) {
        common_[node] = common;
        if (taken_.size() <= common) taken_.resize(common + 1);
        taken_[common] = true;
    }

    /// The best one of the same name among the children of a common node that no other node of this frame has.
    std::uint32_t find(std::uint32_t node, std::uint32_t below) const {
        std::uint32_t best = none;
        int most = -1;
        for (const std::uint32_t child : tree_.children(below))
            if (tree_.name(child) == names_[node] && !is_taken(child))
                if (const int likeness_here = likeness(node, child); likeness_here > most) {
                    most = likeness_here;
                    best = child;
                }
        return best;
    }

    void match_children(std::uint32_t caller) {
        const std::uint32_t below = common_[caller];
        std::vector<std::uint32_t> left;
        for (const std::uint32_t node : children_[caller]) {
            if (common_[node] != none) continue; // its caller was passed over
            if (const std::uint32_t found = find(node, below); found != none)
                take(node, found);
            else
                left.push_back(node);
        }
        if (left.empty()) return;
        std::vector<std::uint32_t> free;
        for (const std::uint32_t child : tree_.children(below))
            if (!is_taken(child)) free.push_back(child);
        std::erase_if(left, [&](std::uint32_t node) { return match_past_common(node, free) || match_past_own(node, below); });
        match_renamed(left, free);
        for (const std::uint32_t node : left)
            if (common_[node] == none) take(node, tree_.copy(frame_, node, below));
    }

    /// This run lacks a caller that others have.
    bool match_past_common(std::uint32_t node, const std::vector<std::uint32_t>& free) {
        std::uint32_t only = none;
        for (const std::uint32_t missing : free) {
            if (is_taken(missing)) continue;
            const std::uint32_t found = find(node, missing);
            if (found == none) continue;
            if (only != none) return false; // several could be meant
            only = found;
        }
        if (only == none) return false;
        take(node, only);
        return true;
    }

    /// This run has a caller that others lack: it becomes a node, and those that it calls are matched as if it were not there.
    bool match_past_own(std::uint32_t node, std::uint32_t below) {
        bool is_matched = false;
        for (const std::uint32_t callee : children_[node])
            if (const std::uint32_t found = find(callee, below); found != none && !is_called_by(callee, children_[frame_.nodes.parent[node]])) {
                take(callee, found);
                is_matched = true;
            }
        if (is_matched) take(node, tree_.copy(frame_, node, below));
        return is_matched;
    }
    /// Whether the caller calls a function of this name itself, which has the better right to the common node.
    bool is_called_by(std::uint32_t callee, const std::vector<std::uint32_t>& siblings) const {
        return std::any_of(siblings.begin(), siblings.end(), [&](std::uint32_t s) { return names_[s] == names_[callee]; });
    }

    void match_renamed(const std::vector<std::uint32_t>& left, const std::vector<std::uint32_t>& free) {
        std::vector<std::uint32_t> unmatched, there;
        for (const std::uint32_t node : left)
            if (common_[node] == none) unmatched.push_back(node);
        for (const std::uint32_t child : free)
            if (!is_taken(child) && is_function(tree_.frame(), child)) there.push_back(child);
        for (const std::uint32_t node : unmatched) {
            if (!is_function(frame_, node)) continue;
            std::uint32_t best = none;
            for (const std::uint32_t child : there)
                if (!is_taken(child) && is_like(node, child)) best = best == none ? child : none - 1;
            if (best >= none - 1) continue;
            std::size_t rivals = 0;
            for (const std::uint32_t other : unmatched) rivals += is_function(frame_, other) && is_like(other, best);
            if (rivals != 1) continue;
            const std::string& from = tree_.frame().name_of(best);
            const std::string& to = frame_.name_of(node);
            if (std::none_of(renamed_.begin(), renamed_.end(), [&](const Renamed& r) { return r.run == run_ && r.from == from && r.to == to; }))
                renamed_.push_back({run_, from, to});
            take(node, best);
        }
    }
    static bool is_function(const Frame& frame, std::uint32_t node) {
        const std::string& kind = frame.texts[frame.nodes.kind[node]];
        return kind == "function" || kind == "inlined";
    }
    /// Neither name is in the other runs and in this one: a function that is met elsewhere, too, has its name still.
    bool may_be_renamed(std::uint32_t node, std::uint32_t common) const {
        if (own_names_.contains(tree_.name(common))) return false;
        if (!names_before_.contains(names_[node])) return true;
        return std::any_of(renamed_.begin(), renamed_.end(),
                           [&](const Renamed& r) { return r.from == tree_.frame().name_of(common) && r.to == frame_.name_of(node); });
    }
    /// Most of what either calls, the other calls, too, not counting what is matched already (below a tail call, say); of functions that call
    /// nothing: in the same file, which is known.
    bool is_like(std::uint32_t node, std::uint32_t common) const {
        if (!may_be_renamed(node, common)) return false;
        std::vector<std::uint32_t> own = children_[node], others = tree_.children(common);
        const auto is_call = [](const Frame& frame, std::uint32_t n) { return frame.texts[frame.nodes.kind[n]] != "other"; }; // else "(off CPU)", say
        std::erase_if(own, [&](std::uint32_t callee) { return common_[callee] != none || !is_call(frame_, callee); });
        std::erase_if(others, [&](std::uint32_t callee) { return is_taken(callee) || !is_call(tree_.frame(), callee); });
        if (own.empty() && others.empty()) {
            const std::string_view file = base_of(frame_.texts[frame_.nodes.file[node]]);
            return !file.empty() && file == base_of(tree_.frame().texts[tree_.frame().nodes.file[common]]);
        }
        std::size_t equal = 0;
        for (const std::uint32_t callee : own)
            equal += std::any_of(others.begin(), others.end(), [&](std::uint32_t o) { return tree_.name(o) == names_[callee]; });
        return 2 * equal > std::max(own.size(), others.size());
    }

    CommonTree& tree_;
    const Frame& frame_;
    std::size_t run_;
    std::vector<Renamed>& renamed_;
    std::vector<std::vector<std::uint32_t>> children_;
    std::vector<std::uint32_t> names_;
    std::unordered_set<std::uint32_t> own_names_, names_before_; // of this frame; of the tree before it was added
    std::vector<std::uint32_t> common_;                          // by node
    std::vector<bool> taken_;                                    // by common node
};

} // namespace

void move_values(Frame& frame, const std::vector<std::uint32_t>& node_of) {
    for (FrameColumn& column : frame.columns) {
        FrameColumn moved;
        moved.metric = column.metric;
        moved.unit = column.unit;
        std::vector<std::pair<std::uint32_t, double>> row;
        RowBuffer buffer;
        for (std::size_t p = 0; p < column.places(); ++p) {
            row.clear();
            const FrameRow old = column.row(p, buffer);
            for (std::size_t i = 0; i < old.node.size(); ++i) row.emplace_back(node_of[old.node[i]], old.value[i]);
            std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
            for (const auto& [node, value] : row)
                if (moved.node.size() > moved.begin.back() && moved.node.back() == node)
                    moved.value.back() += value;
                else {
                    moved.node.push_back(node);
                    moved.value.push_back(value);
                }
            moved.begin.push_back(moved.node.size());
        }
        column = std::move(moved);
    }
}

Unified unify(std::vector<Frame>& frames) {
    Unified result;
    if (frames.empty()) return result;
    CommonTree tree(frames[0]);
    std::vector<std::uint32_t>& same = result.node_of.emplace_back(frames[0].nodes.size());
    for (std::uint32_t n = 0; n < same.size(); ++n) same[n] = n;
    for (std::size_t run = 1; run < frames.size(); ++run) result.node_of.push_back(Matcher(tree, frames[run], run, result.renamed).match());
    for (std::size_t run = 0; run < frames.size(); ++run) {
        if (run != 0) move_values(frames[run], result.node_of[run]);
        frames[run].nodes = tree.frame().nodes; // which all share
        frames[run].texts = tree.frame().texts;
    }
    return result;
}

} // namespace libprofile::tools
