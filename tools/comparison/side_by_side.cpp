#include "tools/comparison/side_by_side.hpp"

#include "tools/comparison/activity.hpp"
#include "tools/comparison/call_places.hpp"
#include "tools/comparison/group_values.hpp"
#include "tools/comparison/run_values.hpp"
#include "tools/comparison/time_use.hpp"
#include "tools/frames/matching_name.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>

namespace libprofile::tools {

namespace {

using Numbers = std::vector<std::uint32_t>; // by node

std::vector<GroupValues> values_of_all(const std::vector<RunGroup>& groups, const std::string& metric, const Numbers& row_of, std::size_t rows) {
    std::vector<GroupValues> values;
    for (const RunGroup& group : groups) values.push_back(values_of(group, metric, row_of, rows));
    return values;
}

std::vector<Change> changes_of(const std::vector<GroupValues>& values, std::size_t row) {
    std::vector<Change> changes;
    for (std::size_t g = 1; g < values.size(); ++g) changes.push_back(change_of(values[0], values[g], row));
    return changes;
}

double largest_of(const std::vector<Change>& changes) {
    double largest = 0;
    for (const Change& change : changes) largest = std::max({largest, std::abs(change.before), std::abs(change.after)});
    return largest;
}

/// What the rows of a tree are, level by level.
struct TreePlan {
    const char* name;
    /// Which row below that of the level before has the node: equal numbers are one row; no_row if it ends there.
    std::function<std::uint32_t(std::uint32_t node, std::size_t level)> key;
    /// @param node the first one of the row
    std::function<SideLabel(std::uint32_t node, std::size_t level)> label;
};

class TreeMaker {
  public:
    TreeMaker(const std::vector<RunGroup>& groups, const std::string& metric, const SideLimits& limits)
        : groups_(groups), metric_(metric), limits_(limits), nodes_(groups.front().runs.front().frame.nodes.size()) {
        least_ = largest_of(changes_of(values_of_all(groups_, metric_, Numbers(nodes_, 0), 1), 0)) * limits_.share;
    }

    bool is_kept(const std::vector<Change>& changes) const {
        const double largest = largest_of(changes);
        return largest > 0 && largest >= least_;
    }

    SideTree made(const TreePlan& plan) const {
        SideTree tree{plan.name, {}, 0, false};
        constexpr std::int64_t ended = -2;
        std::vector<std::int64_t> at(nodes_, -1); // by node: its row of the level before
        Numbers row_of(nodes_);
        for (std::size_t level = 0;; ++level) {
            struct Fresh {
                std::int64_t parent;
                std::uint32_t node;
            };
            std::vector<Fresh> fresh;
            std::unordered_map<std::uint64_t, std::uint32_t> known;
            for (std::uint32_t n = 0; n < nodes_; ++n) {
                row_of[n] = no_row;
                if (at[n] == ended) continue;
                const std::uint32_t key = plan.key(n, level);
                if (key == no_row) {
                    at[n] = ended;
                    continue;
                }
                const auto [row, is_new] = known.try_emplace(static_cast<std::uint64_t>(at[n] + 1) << 32 | key, static_cast<std::uint32_t>(fresh.size()));
                if (is_new) fresh.push_back({at[n], n});
                row_of[n] = row->second;
            }
            if (fresh.empty()) break;
            if (level == limits_.levels || tree.rows.size() >= limits_.rows) {
                tree.is_cut = true;
                break;
            }
            const std::vector<GroupValues> values = values_of_all(groups_, metric_, row_of, fresh.size());
            std::vector<std::int64_t> kept(fresh.size(), ended);
            for (std::size_t i = 0; i < fresh.size(); ++i) {
                std::vector<Change> changes = changes_of(values, i);
                if (!is_kept(changes)) {
                    tree.left_out += largest_of(changes) > 0;
                    continue;
                }
                kept[i] = static_cast<std::int64_t>(tree.rows.size());
                tree.rows.push_back({fresh[i].parent, plan.label(fresh[i].node, level), std::move(changes)});
            }
            for (std::uint32_t n = 0; n < nodes_; ++n)
                if (row_of[n] != no_row) at[n] = kept[row_of[n]];
        }
        return tree;
    }

  private:
    const std::vector<RunGroup>& groups_;
    const std::string& metric_;
    const SideLimits& limits_;
    const std::size_t nodes_;
    double least_ = 0;
};

/// The functions of a tree, in which a row has all nodes of a function below the same row.
class Functions {
  public:
    explicit Functions(const Frame& tree) : tree_(tree), depth_(tree.nodes.size()) {
        std::map<std::tuple<std::uint32_t, std::string, std::string>, std::uint32_t> numbers;
        const FrameNodes& nodes = tree.nodes;
        for (std::uint32_t n = 0; n < nodes.size(); ++n) {
            if (n != 0) depth_[n] = depth_[nodes.parent[n]] + 1;
            const std::string file = is_call(n) ? "" : base_name(tree.texts[nodes.file[n]]);
            of_.push_back(numbers.try_emplace({nodes.kind[n], std::string(matching_name(tree.name_of(n))), file}, static_cast<std::uint32_t>(numbers.size()))
                              .first->second);
        }
    }

    std::uint32_t of(std::uint32_t node) const { return of_[node]; }
    std::size_t depth(std::uint32_t node) const { return depth_[node]; }
    SideLabel label(std::uint32_t node) const {
        const std::string file = base_name(tree_.texts[tree_.nodes.file[node]]);
        const std::uint32_t line = tree_.nodes.line[node];
        return {without_anonymous(name_in_all_builds(tree_, node)), tree_.name_of(node), line == 0 ? file : fmt::format("{}:{}", file, line)};
    }
    bool is_call(std::uint32_t node) const { return tools::is_call(tree_.texts[tree_.nodes.kind[node]]); }
    SideLabel label_of_all_calls(std::uint32_t node) const {
        SideLabel result = label(node);
        if (is_call(node)) result.place.clear();
        return result;
    }

  private:
    const Frame& tree_;
    std::vector<std::size_t> depth_;
    Numbers of_;
};

/// The node that is so many calls above each, moving up by one with each level.
class Walk {
  public:
    explicit Walk(const Frame& tree) : tree_(tree), at_(tree.nodes.size()) {
        for (std::uint32_t n = 0; n < at_.size(); ++n) at_[n] = n;
    }
    /// no_row above the program's functions. For ascending levels, once for each.
    std::uint32_t up(std::uint32_t node, std::size_t level) {
        if (level != 0) at_[node] = tree_.nodes.parent[at_[node]];
        return level != 0 && at_[node] == 0 ? no_row : at_[node];
    }
    std::uint32_t at(std::uint32_t node) const { return at_[node]; }

  private:
    const Frame& tree_;
    Numbers at_;
};

SideTree path_tree(const TreeMaker& maker, const Frame& tree, const Functions& functions) {
    constexpr std::uint32_t itself = no_row - 1;
    constexpr const char* itself_name = "(itself)";
    Numbers above(tree.nodes.size()); // by node: what of its call path a level asks for; parents come first
    SideTree result = maker.made({"paths",
                                  [&](std::uint32_t node, std::size_t level) {
                                      if (level == functions.depth(node) + 1) return itself;
                                      if (level > functions.depth(node)) return no_row;
                                      above[node] = functions.depth(node) == level ? node : above[tree.nodes.parent[node]];
                                      return functions.of(above[node]);
                                  },
                                  [&](std::uint32_t node, std::size_t level) {
                                      return level == functions.depth(node) + 1 ? SideLabel{itself_name, "", ""} : functions.label(above[node]);
                                  }});
    // A row that calls nothing is itself.
    std::vector<std::size_t> children(result.rows.size());
    for (const SideRow& row : result.rows)
        if (row.parent >= 0) ++children[static_cast<std::size_t>(row.parent)];
    std::vector<std::int64_t> moved(result.rows.size(), -1);
    std::vector<SideRow> rows;
    for (std::size_t r = 0; r < result.rows.size(); ++r) {
        SideRow& row = result.rows[r];
        if (row.parent >= 0 && row.label.name == itself_name && row.label.full_name.empty() && children[static_cast<std::size_t>(row.parent)] == 1) continue;
        if (row.parent >= 0) row.parent = moved[static_cast<std::size_t>(row.parent)];
        moved[r] = static_cast<std::int64_t>(rows.size());
        rows.push_back(std::move(row));
    }
    result.rows = std::move(rows);
    return result;
}

SideTree caller_tree(const TreeMaker& maker, const Frame& tree, const Functions& functions) {
    Walk walk(tree);
    return maker.made({"callers",
                       [&](std::uint32_t node, std::size_t level) {
                           const std::uint32_t above = walk.up(node, level);
                           return above == no_row ? no_row : functions.of(above);
                       },
                       [&](std::uint32_t node, std::size_t) { return functions.label_of_all_calls(walk.at(node)); }});
}

SideTree kind_tree(const TreeMaker& maker, const Activities& activities) {
    const auto activity = [&](std::uint32_t node) -> const Activity& { return activities.list[activities.of_node[node]]; };
    return maker.made({"kinds",
                       [&](std::uint32_t node, std::size_t level) {
                           return level == 0 ? static_cast<std::uint32_t>(activity(node).use) : level == 1 ? activities.of_node[node] : no_row;
                       },
                       [&](std::uint32_t node, std::size_t level) {
                           return SideLabel{level == 0 ? time_use_name(activity(node).use) : activity_text(activity(node)), "", ""};
                       }});
}

SideTree module_tree(const TreeMaker& maker, const Frame& tree, const Functions& functions) {
    const auto file = [&](std::uint32_t node) { return functions.is_call(node) ? std::string() : tree.texts[tree.nodes.file[node]]; };
    std::map<std::string, std::uint32_t> files; // those of calls are of no meaning
    const auto named = [](const std::string& path, const char* unknown) {
        return path.empty() ? SideLabel{unknown, "", ""} : SideLabel{base_name(path), path, ""};
    };
    return maker.made({"modules",
                       [&](std::uint32_t node, std::size_t level) {
                           if (level == 0) return tree.nodes.module[node];
                           if (level == 1) return files.try_emplace(file(node), static_cast<std::uint32_t>(files.size())).first->second;
                           return level == 2 ? functions.of(node) : no_row;
                       },
                       [&](std::uint32_t node, std::size_t level) {
                           return level == 0   ? named(tree.texts[tree.nodes.module[node]], "(no module)")
                                  : level == 1 ? named(file(node), "(no file)")
                                               : functions.label_of_all_calls(node);
                       }});
}

/// Ranks, and below each the kinds of time.
SideTree rank_tree(const TreeMaker& maker, const std::vector<RunGroup>& groups, const std::string& metric) {
    SideTree tree{"ranks", {}, 0, false};
    const Run& first = groups.front().runs.front();
    const std::vector<std::uint32_t> ranks = ranks_of(first);
    std::vector<std::vector<RankValues>> wholes, kinds; // by group and run
    Numbers use_of;
    for (const TimeUse use : time_uses(first.frame)) use_of.push_back(static_cast<std::uint32_t>(use));
    for (const RunGroup& group : groups) {
        wholes.emplace_back();
        kinds.emplace_back();
        for (const Run& run : group.runs) {
            if (ranks_of(run) != ranks) return tree;
            const FrameColumn& column = run.frame.column(metric);
            wholes.back().push_back(values_by_rank(run, column, Numbers(use_of.size(), 0), 1));
            kinds.back().push_back(values_by_rank(run, column, use_of, time_use_count));
        }
    }
    const auto changes = [](const std::vector<std::vector<RankValues>>& values, std::size_t row, std::size_t rank) {
        std::vector<std::vector<RunValue>> by_group;
        for (const auto& group : values) {
            by_group.emplace_back();
            for (const RankValues& run : group) by_group.back().push_back(run.at(row, rank));
        }
        std::vector<Change> result;
        for (std::size_t g = 1; g < by_group.size(); ++g) result.push_back(change_between(by_group[0], by_group[g]));
        return result;
    };
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        const auto place = std::find_if(first.frame.places.begin(), first.frame.places.end(), [&](const FramePlace& p) { return p.rank == ranks[r]; });
        const auto parent = static_cast<std::int64_t>(tree.rows.size());
        tree.rows.push_back({-1, {fmt::format("rank {}", ranks[r]), "", place->host}, changes(wholes, 0, r)});
        for (std::size_t k = 0; k < time_use_count; ++k) {
            std::vector<Change> change = changes(kinds, k, r);
            if (maker.is_kept(change))
                tree.rows.push_back({parent, {time_use_name(static_cast<TimeUse>(k)), "", ""}, std::move(change)});
            else
                tree.left_out += largest_of(change) > 0;
        }
    }
    return tree;
}

} // namespace

std::vector<SideTree> side_by_side(const std::vector<RunGroup>& groups, const std::string& metric, const SideLimits& limits) {
    const Frame& tree = groups.front().runs.front().frame;
    const TreeMaker maker(groups, metric, limits);
    const Functions functions(tree);
    std::vector<SideTree> trees;
    trees.push_back(path_tree(maker, tree, functions));
    trees.push_back(caller_tree(maker, tree, functions));
    trees.push_back(kind_tree(maker, activities_of(tree)));
    trees.push_back(module_tree(maker, tree, functions));
    trees.push_back(rank_tree(maker, groups, metric));
    return trees;
}

} // namespace libprofile::tools
