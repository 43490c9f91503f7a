#include "tools/analysis/function_lines.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace libprofile::tools {

namespace {

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

struct NamedFunction {
    std::string name;
    std::set<std::string> full; // with parameters and template arguments
    std::uint64_t time = 0;     // own
};

std::vector<NamedFunction> named_functions(const Profile& profile) {
    std::vector<std::uint64_t> time(profile.paths.size());
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases)
            for_each_cell(data, [&](const Cell& cell) {
                if (cell.metric == 0) time[cell.path] += cell.value;
            });
    std::map<std::string, std::uint64_t> by_full_name;
    for (std::size_t p = 0; p < profile.paths.size(); ++p)
        if (is_code(profile.paths[p].kind)) by_full_name[label_of(profile, profile.paths[p]).name] += time[p];
    std::map<std::string, NamedFunction> known;
    for (const auto& [full, ns] : by_full_name) {
        NamedFunction& function = known[short_function_name(full)];
        function.full.insert(full);
        function.time += ns;
    }
    std::vector<NamedFunction> list;
    for (auto& [name, function] : known) {
        function.name = name;
        list.push_back(std::move(function));
    }
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
    return list;
}

/// The call paths as a tree of two sorts of nodes: lines of the function, and what is called there. All else is the root.
class LineTree {
  public:
    LineTree(const Profile& profile, const std::string& function, const std::vector<bool>& counts) : profile_(profile) {
        tree_.nodes.resize(1);
        tree_.counts = {counts[0]};
        line_of_node_ = {none};
        tree_.node_of_path.resize(profile.paths.size());
        for (std::uint32_t p = 1; p < profile.paths.size(); ++p) tree_.node_of_path[p] = node_of(profile.paths[p], function, counts[p]);
        tree_.depth.resize(tree_.nodes.size());
    }

    const FunctionTree& tree() const { return tree_; }

    FunctionLines lines(const SelectedTree& values, std::size_t metrics) {
        FunctionLines result;
        result.strata = values.strata;
        result.own.resize(metrics);
        result.inclusive.resize(metrics);
        for (FunctionLine& line : lines_) line.own.resize(metrics), line.inclusive.resize(metrics);
        std::vector<std::map<std::string, std::uint64_t>> called(lines_.size());
        for (std::size_t n = 1; n < tree_.nodes.size(); ++n)
            if (line_of_node_[n] == none) { // called by the line above it, or a part of that
                const std::uint32_t above = line_of_node_[static_cast<std::size_t>(tree_.nodes[n].parent)];
                if (above != none && has_value(values.inclusive[n])) called[above][tree_.nodes[n].name] += values.inclusive[n][0].value;
            }
        add_values(values, result);
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (!has_value(lines_[i].inclusive)) continue;
            std::vector<std::pair<std::uint64_t, std::string>> order;
            for (auto& [name, value] : called[i]) order.emplace_back(value, name);
            std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
            for (auto& [value, name] : order) lines_[i].called.push_back(std::move(name));
            result.lines.push_back(std::move(lines_[i]));
        }
        std::map<std::string, std::uint64_t> of_file;
        for (const FunctionLine& line : result.lines) of_file[line.file] += line.own[0].value;
        std::sort(result.lines.begin(), result.lines.end(), [&](const FunctionLine& a, const FunctionLine& b) {
            const std::uint64_t x = of_file[a.file], y = of_file[b.file];
            return std::tie(y, a.file, a.line) < std::tie(x, b.file, b.line);
        });
        return result;
    }

  private:
    static constexpr std::uint32_t none = 0xffffffffu;

    static bool has_value(const std::vector<SelectedValue>& values) {
        return std::any_of(values.begin(), values.end(), [](const SelectedValue& v) { return v.value != 0; });
    }

    std::uint32_t node_of(const CallPath& path, const std::string& function, bool counts) {
        const std::uint32_t above = tree_.node_of_path[path.parent];
        const bool is_below_line = line_of_node_[above] != none;
        if (above == 0 && !is_code(path.kind)) return 0;
        const auto& [name, line] = known_label(path, function);
        if (line != none) return add_node(above, line, "", counts);
        if (above == 0) return 0;
        if (!is_below_line && tree_.counts[above] == counts) return above;
        return add_node(above, none, name, counts);
    }

    /// The shown name, and the line if it is one of the function. A site is on many call paths.
    const std::pair<std::string, std::uint32_t>& known_label(const CallPath& path, const std::string& function) {
        const auto [at, added] = labels_.emplace(std::tuple(path.kind, path.target, path.address), std::pair(std::string(), none));
        if (!added) return at->second;
        const Label label = label_of(profile_, path);
        std::string name = short_function_name(label.name);
        if (is_code(path.kind) && name == function) {
            const auto [line, is_new] = numbers_.emplace(std::pair(label.file, label.line), static_cast<std::uint32_t>(lines_.size()));
            if (is_new) lines_.push_back({label.file, label.line, profile_.sites[path.target].module, {}, {}, {}});
            at->second.second = line->second;
        }
        at->second.first = std::move(name);
        return at->second;
    }

    std::uint32_t add_node(std::uint32_t above, std::uint32_t line, const std::string& called, bool counts) {
        const auto [at, added] = nodes_.emplace(std::tuple(above, line, called, counts), static_cast<std::uint32_t>(tree_.nodes.size()));
        if (!added) return at->second;
        FunctionNode node;
        node.parent = static_cast<int>(above);
        node.kind = NodeKind::Frame;
        node.name = called;
        tree_.nodes.push_back(std::move(node));
        tree_.nodes[above].children.push_back(at->second);
        tree_.counts.push_back(counts);
        line_of_node_.push_back(line);
        return at->second;
    }

    /// Goes through the tree and knows which lines are open, so that each counts once.
    void add_values(const SelectedTree& values, FunctionLines& result) {
        const std::size_t metrics = result.own.size();
        std::vector<std::uint32_t> open(lines_.size());
        std::uint32_t open_lines = 0;
        std::vector<std::pair<std::uint32_t, std::size_t>> stack = {{0, 0}}; // nodes, and how many of their children were visited
        while (!stack.empty()) {
            const std::uint32_t n = stack.back().first;
            const std::uint32_t line = line_of_node_[n];
            if (stack.back().second == 0 && line != none) {
                for (std::size_t m = 0; m < metrics; ++m) {
                    lines_[line].own[m].add(values.exclusive[n][m]);
                    result.own[m].add(values.exclusive[n][m]);
                    if (open[line] == 0) lines_[line].inclusive[m].add(values.inclusive[n][m]);
                    if (open_lines == 0) result.inclusive[m].add(values.inclusive[n][m]);
                }
                ++open[line];
                ++open_lines;
            }
            const std::vector<std::uint32_t>& children = tree_.nodes[n].children;
            if (stack.back().second < children.size()) {
                stack.emplace_back(children[stack.back().second++], 0);
                continue;
            }
            if (line != none) {
                --open[line];
                --open_lines;
            }
            stack.pop_back();
        }
    }

    const Profile& profile_;
    FunctionTree tree_;
    std::vector<std::uint32_t> line_of_node_; // `none` for what is called
    std::vector<FunctionLine> lines_;
    std::map<std::pair<std::string, std::uint64_t>, std::uint32_t> numbers_; // of lines
    std::map<std::tuple<NodeKind, std::uint32_t, std::uint64_t>, std::pair<std::string, std::uint32_t>> labels_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::string, bool>, std::uint32_t> nodes_;
};

} // namespace

std::vector<std::string> function_names(const Profile& profile) {
    std::vector<std::string> names;
    for (NamedFunction& function : named_functions(profile)) names.push_back(std::move(function.name));
    return names;
}

std::vector<std::string> functions_called(const Profile& profile, const std::string& text) {
    const std::vector<NamedFunction> functions = named_functions(profile);
    const std::string wanted = lower(text);
    const auto where = [&](auto&& fits) {
        std::vector<std::string> names;
        for (const NamedFunction& function : functions)
            if (fits(function)) names.push_back(function.name);
        return names;
    };
    std::vector<std::string> names =
        where([&](const NamedFunction& f) { return f.name == text || without_anonymous(f.name) == text || f.full.contains(text); });
    if (names.empty()) names = where([&](const NamedFunction& f) { return without_anonymous(f.name).ends_with("::" + text) || f.name.ends_with("::" + text); });
    if (names.empty()) names = where([&](const NamedFunction& f) { return lower(without_anonymous(f.name)).find(wanted) != std::string::npos; });
    return names;
}

FunctionLines function_lines(const Profile& profile, const std::string& function, const std::vector<bool>& counts, const TreeChoice& choice) {
    LineTree lines(profile, function, counts);
    const SelectedTree values = select_tree(profile, lines.tree(), choice);
    return lines.lines(values, choice.rows.size());
}

std::vector<std::pair<std::string, FunctionLines>> hottest_lines(const Profile& profile, std::size_t most) {
    constexpr std::size_t metrics = 3;
    std::vector<std::array<std::uint64_t, metrics>> sums(profile.paths.size()); // once for all functions
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases)
            for_each_cell(data, [&](const Cell& cell) {
                if (cell.metric == 0) sums[cell.path][0] += cell.value;
                if (cell.metric == static_cast<std::uint32_t>(Metric::Samples)) sums[cell.path][1] += cell.value;
                if (cell.metric == static_cast<std::uint32_t>(Metric::Visits)) sums[cell.path][2] += cell.value;
            });
    SampledStrata strata;
    std::vector<SampledParts> parts(profile.paths.size());
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases)
            strata.add(sampled_selection(profile, data), [&](std::uint32_t path, std::uint32_t stratum, double ns) { add_part(parts[path], stratum, ns); });
    std::vector<std::pair<std::string, FunctionLines>> list;
    for (std::string& name : function_names(profile)) {
        if (list.size() == most) break;
        LineTree lines(profile, name, std::vector<bool>(profile.paths.size(), true));
        const FunctionTree& tree = lines.tree();
        SelectedTree values;
        values.strata = strata.list();
        values.exclusive.assign(tree.nodes.size(), std::vector<SelectedValue>(metrics));
        for (std::size_t p = 0; p < sums.size(); ++p) {
            for (std::size_t m = 0; m < metrics; ++m) values.exclusive[tree.node_of_path[p]][m].value += sums[p][m];
            add_parts(values.exclusive[tree.node_of_path[p]][0].parts, parts[p]);
        }
        values.inclusive = values.exclusive;
        for (std::size_t n = tree.nodes.size(); n-- > 1;)
            for (std::size_t m = 0; m < metrics; ++m) values.inclusive[static_cast<std::size_t>(tree.nodes[n].parent)][m].add(values.inclusive[n][m]);
        FunctionLines found = lines.lines(values, metrics);
        if (!found.lines.empty()) list.emplace_back(std::move(name), std::move(found));
    }
    return list;
}

} // namespace libprofile::tools
