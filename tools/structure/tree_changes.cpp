#include "tools/structure/tree_changes.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>

namespace libprofile::tools {

namespace {

using NodeList = std::vector<std::uint32_t>;

constexpr std::array change_names = {"added", "removed", "moved", "renamed", "inlined", "outlined", "more often", "less often"};
constexpr std::size_t renaming_candidates = 8;
constexpr std::size_t most_compared = std::size_t{1} << 20; // calls of a gap in which inlined functions are looked for, times functions
constexpr std::size_t longest_pass = 64;                    // calls of a loop's pass

/// By what calls are alike, and the share of them that must be.
struct Likeness {
    std::uint64_t OrderedNode::*by;
    double share;
    bool holds(std::size_t alike, std::size_t all) const { return static_cast<double>(alike) >= share * static_cast<double>(all); }
};
constexpr std::array likenesses = {Likeness{&OrderedNode::hash, 1}, Likeness{&OrderedNode::key, 1}, Likeness{&OrderedNode::key, 0.75},
                                   Likeness{&OrderedNode::key, 0.5}}; // what is surest first

/// Two lists of nodes that stand for each other, and the functions around them.
struct ListPair {
    std::array<NodeList, 2> list;
    std::array<std::uint32_t, 2> around;
};

/// What stands between two neighbouring pairs of partners; positions in the lists.
struct ListGap {
    std::array<std::vector<std::size_t>, 2> alone;
    std::array<std::uint32_t, 2> before = {no_partner, no_partner}; // the partners
};

class ChangeFinder {
  public:
    ChangeFinder(const OrderedTree& a, const OrderedTree& b, std::size_t cells) : trees_{&a, &b}, aligner_(a, b, cells) {}

    TreeChanges find() {
        aligner_.pair(0, 0);
        follow(0, 0);
        while (!open_.empty()) {
            const ListPair lists = std::move(open_.back());
            open_.pop_back();
            explain(lists);
        }
        std::stable_sort(changes_.begin(), changes_.end(),
                         [](const TreeChange& x, const TreeChange& y) { return std::tie(x.node_a, x.node_b) < std::tie(y.node_a, y.node_b); });
        return {std::move(changes_), aligner_.alignment()};
    }

  private:
    const OrderedNode& node(int side, std::uint32_t number) const { return trees_[side]->nodes[number]; }
    std::uint32_t partner(int side, std::uint32_t number) const { return aligner_.partners(side)[number]; }

    /// Partners: what is below them is told later.
    void follow(std::uint32_t a, std::uint32_t b) {
        const OrderedNode &in_a = node(0, a), &in_b = node(1, b);
        if (in_a.hash == in_b.hash) return;
        if (in_a.own != in_b.own) tell(in_a.own != 0 ? TreeChangeKind::Removed : TreeChangeKind::Added, {a, b}, 1, 1, 0);
        open_.push_back({{trees_[0]->children(a), trees_[1]->children(b)}, {a, b}});
    }

    void tell(TreeChangeKind kind, std::array<std::uint32_t, 2> at, std::uint64_t times, std::uint64_t events, double time) {
        const auto [known, is_new] = known_.try_emplace({kind, node(0, at[0]).path, node(1, at[1]).path}, changes_.size());
        if (is_new) changes_.push_back({kind, at[0], at[1]});
        TreeChange& change = changes_[known->second];
        change.times += times;
        change.events += events;
        change.time += time;
    }
    /// A change of nodes of one side. @param other of the other side: the function around them, or what they became
    void tell(TreeChangeKind kind, int side, std::span<const std::uint32_t> nodes, std::uint32_t other, std::uint64_t times = 1) {
        std::uint64_t events = 0;
        double time = 0;
        for (const std::uint32_t number : nodes) {
            events += node(side, number).events;
            const std::vector<double>& times_of_nodes = trees_[side]->time;
            for (std::uint32_t i = number; !times_of_nodes.empty() && i < node(side, number).end; ++i) time += times_of_nodes[i];
        }
        tell(kind, side == 0 ? std::array{nodes.front(), other} : std::array{other, nodes.front()}, times, events, time);
    }

    void explain(const ListPair& lists) {
        std::vector<ListGap> gaps = gaps_of(lists);
        find_moved(lists, gaps);
        for (ListGap& gap : gaps)
            for (const Likeness& least : likenesses) {
                find_renamed(lists, gap, least);
                for (const int side : {0, 1}) find_inlined(lists, gap, side, least);
            }
        for (std::size_t i = 1; i < gaps.size(); ++i) {
            const auto [a, b] = gaps[i].before;
            if (!find_pieces(lists, gaps[i - 1], gaps[i], 0) && !find_pieces(lists, gaps[i - 1], gaps[i], 1)) follow(a, b);
        }
        for (const ListGap& gap : gaps)
            for (const int side : {0, 1}) tell_alone(lists, gap, side);
    }

    std::vector<ListGap> gaps_of(const ListPair& lists) const {
        std::vector<ListGap> gaps(1);
        std::size_t j = 0;
        for (std::size_t i = 0; i < lists.list[0].size(); ++i) {
            const std::uint32_t other = partner(0, lists.list[0][i]);
            if (other == no_partner) {
                gaps.back().alone[0].push_back(i);
                continue;
            }
            for (; lists.list[1][j] != other; ++j) gaps.back().alone[1].push_back(j);
            ++j;
            gaps.emplace_back().before = {lists.list[0][i], other};
        }
        for (; j < lists.list[1].size(); ++j) gaps.back().alone[1].push_back(j);
        return gaps;
    }

    void find_moved(const ListPair& lists, std::vector<ListGap>& gaps) {
        std::unordered_map<std::uint64_t, std::vector<std::size_t>> in_b; // positions by hash, the first one last
        for (auto gap = gaps.rbegin(); gap != gaps.rend(); ++gap)
            for (auto j = gap->alone[1].rbegin(); j != gap->alone[1].rend(); ++j) in_b[node(1, lists.list[1][*j]).hash].push_back(*j);
        std::array<std::vector<std::size_t>, 2> moved;
        std::vector<std::array<std::uint32_t, 2>> block; // neighbours that moved together
        const auto tell_block = [&] {
            NodeList nodes;
            for (const auto& [a, b] : block) nodes.push_back(a);
            if (!block.empty()) tell(TreeChangeKind::Moved, 0, nodes, block.front()[1]);
            block.clear();
        };
        for (const ListGap& gap : gaps)
            for (const std::size_t i : gap.alone[0]) {
                const auto found = in_b.find(node(0, lists.list[0][i]).hash);
                if (found == in_b.end() || found->second.empty()) continue;
                const std::size_t j = found->second.back();
                found->second.pop_back();
                if (!moved[0].empty() && (moved[0].back() + 1 != i || moved[1].back() + 1 != j)) tell_block();
                moved[0].push_back(i);
                moved[1].push_back(j);
                block.push_back({lists.list[0][i], lists.list[1][j]});
            }
        tell_block();
        std::sort(moved[1].begin(), moved[1].end());
        for (ListGap& gap : gaps)
            for (const int side : {0, 1})
                std::erase_if(gap.alone[side], [&](std::size_t i) { return std::binary_search(moved[side].begin(), moved[side].end(), i); });
    }

    std::vector<std::uint64_t> values_of(int side, const NodeList& nodes, const Likeness& least) const {
        std::vector<std::uint64_t> values;
        for (const std::uint32_t number : nodes) values.push_back(node(side, number).*least.by);
        return values;
    }

    /// How often does not count.
    bool are_alike(std::uint32_t a, std::uint32_t b, const Likeness& least) const {
        std::vector<std::uint64_t> in_a = values_of(0, trees_[0]->children(a), least), in_b = values_of(1, trees_[1]->children(b), least);
        for (auto* values : {&in_a, &in_b}) values->erase(std::unique(values->begin(), values->end()), values->end());
        if (in_a.empty() || in_b.empty()) return false;
        std::vector<std::uint32_t> partners = partners_of_long(in_a, in_b);
        std::erase(partners, no_partner);
        return least.holds(partners.size(), std::max(in_a.size(), in_b.size()));
    }

    void find_renamed(const ListPair& lists, ListGap& gap, const Likeness& least) {
        std::array<std::vector<std::size_t>, 2> left;
        std::size_t next = 0;
        for (const std::size_t i : gap.alone[0]) {
            const std::uint32_t a = lists.list[0][i];
            const std::size_t end = std::min(next + renaming_candidates, gap.alone[1].size());
            std::size_t found = next;
            while (found != end && !are_alike(a, lists.list[1][gap.alone[1][found]], least)) ++found;
            if (found == end) {
                left[0].push_back(i);
                continue;
            }
            const std::uint32_t b = lists.list[1][gap.alone[1][found]];
            aligner_.pair(a, b);
            if (node(0, a).key != node(1, b).key) tell(TreeChangeKind::Renamed, 0, std::array{a}, b);
            follow(a, b);
            for (; next != found; ++next) left[1].push_back(gap.alone[1][next]);
            ++next;
        }
        for (; next < gap.alone[1].size(); ++next) left[1].push_back(gap.alone[1][next]);
        gap.alone = std::move(left);
    }

    void pair_lists(int side, const NodeList& of_side, const NodeList& of_other) {
        side == 0 ? aligner_.pair_lists(of_side, of_other) : aligner_.pair_lists(of_other, of_side);
    }

    /// @param side where the function is that the other side has not
    void find_inlined(const ListPair& lists, ListGap& gap, int side, const Likeness& least) {
        const int other = 1 - side;
        std::vector<std::size_t>& rest = gap.alone[other];
        if (gap.alone[side].size() * rest.size() > most_compared) return;
        std::erase_if(gap.alone[side], [&](std::size_t i) {
            const std::uint32_t function = lists.list[side][i];
            const NodeList inside = trees_[side]->children(function);
            if (inside.empty() || rest.empty()) return false;
            NodeList nodes_of_rest;
            for (const std::size_t j : rest) nodes_of_rest.push_back(lists.list[other][j]);
            std::vector<std::uint32_t> partners = partners_of_long(values_of(side, inside, least), values_of(other, nodes_of_rest, least));
            std::erase(partners, no_partner);
            if (partners.empty() || !least.holds(partners.size(), inside.size())) return false;
            NodeList instead(nodes_of_rest.begin() + partners.front(), nodes_of_rest.begin() + partners.back() + 1);
            rest.erase(rest.begin() + partners.front(), rest.begin() + partners.back() + 1);
            pair_lists(side, inside, instead);
            tell(side == 0 ? TreeChangeKind::Inlined : TreeChangeKind::Outlined, side, std::array{function}, lists.around[other]);
            ListPair added;
            added.list[side] = inside;
            added.list[other] = std::move(instead);
            added.around[side] = function;
            added.around[other] = lists.around[other];
            open_.push_back(std::move(added));
            return true;
        });
    }

    /// Whether a function is whole in one tree and in pieces in the other, as something stands between them. Then its calls are aligned with those of all
    /// pieces. The pieces are neighbours without a partner, as large as what the function has more than the piece that is its partner.
    /// @param side of the pieces
    bool find_pieces(const ListPair& lists, ListGap& gap_before, ListGap& gap_after, int side) {
        const std::array<std::uint32_t, 2> pair = gap_after.before;
        const OrderedNode &piece = node(side, pair[side]), &whole = node(1 - side, pair[1 - side]);
        std::uint64_t events = piece.events;
        NodeList pieces = {pair[side]};
        const auto is_piece = [&](std::size_t i) {
            const OrderedNode& other = node(side, lists.list[side][i]);
            if (other.key != piece.key || other.events == other.own || events + (other.events + 1) / 2 > whole.events) return false;
            events += other.events;
            pieces.push_back(lists.list[side][i]);
            return true;
        };
        std::vector<std::size_t>&before = gap_before.alone[side], &after = gap_after.alone[side];
        std::reverse(before.begin(), before.end()); // what is near comes first
        std::erase_if(before, is_piece);
        std::reverse(before.begin(), before.end());
        std::erase_if(after, is_piece);
        if (pieces.size() == 1) return false;
        std::sort(pieces.begin(), pieces.end());
        ListPair& added = open_.emplace_back();
        added.around = pair;
        added.list[1 - side] = trees_[1 - side]->children(pair[1 - side]);
        for (const std::uint32_t function : pieces)
            for (const std::uint32_t call : trees_[side]->children(function)) added.list[side].push_back(call);
        aligner_.part_below(pair[0], pair[1]);
        aligner_.pair_lists(added.list[0], added.list[1]);
        return true;
    }

    /// How many nodes from here on are a pass of a loop that has others before or behind it. 0: none.
    std::size_t pass_at(int side, const NodeList& list, std::size_t from, std::size_t alone) const {
        const auto are_equal = [&](std::size_t i, std::size_t j, std::size_t n) {
            for (std::size_t k = 0; k < n; ++k)
                if (node(side, list[i + k]).key != node(side, list[j + k]).key) return false;
            return true;
        };
        for (std::size_t length = 1; length <= std::min(alone, longest_pass); ++length)
            if ((from >= length && are_equal(from - length, from, length)) || (from + 2 * length <= list.size() && are_equal(from, from + length, length)))
                return length;
        return 0;
    }

    void tell_alone(const ListPair& lists, const ListGap& gap, int side) {
        const std::vector<std::size_t>& alone = gap.alone[side];
        const NodeList& list = lists.list[side];
        const std::uint32_t around = lists.around[1 - side];
        for (std::size_t first = 0, end = 0; first < alone.size();) {
            for (end = std::max(end, first + 1); end < alone.size() && alone[end] == alone[end - 1] + 1;) ++end;
            const std::size_t pass = pass_at(side, list, alone[first], end - first);
            const std::span<const std::uint32_t> nodes(list.data() + alone[first], std::max<std::size_t>(pass, 1));
            if (pass != 0)
                tell(side == 0 ? TreeChangeKind::LessOften : TreeChangeKind::MoreOften, side, nodes, around);
            else
                tell(side == 0 ? TreeChangeKind::Removed : TreeChangeKind::Added, side, nodes, around);
            first += nodes.size();
        }
    }

    std::array<const OrderedTree*, 2> trees_;
    TreeAligner aligner_;
    std::vector<ListPair> open_;
    std::map<std::tuple<TreeChangeKind, std::uint32_t, std::uint32_t>, std::size_t> known_;
    std::vector<TreeChange> changes_;
};

} // namespace

const char* tree_change_name(TreeChangeKind kind) { return change_names[static_cast<std::size_t>(kind)]; }

TreeChanges tree_changes(const OrderedTree& a, const OrderedTree& b, std::size_t cells) { return ChangeFinder(a, b, cells).find(); }

} // namespace libprofile::tools
