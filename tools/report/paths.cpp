#include "tools/names/labels.hpp"
#include "tools/report/sections.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t spots_shown = 12;
constexpr std::size_t tree_lines_shown = 40;
constexpr double smallest_share = 0.005; // of all time, for a line of its own

std::string shown(const Spot& spot) { return printable(shown_name(spot.kind, spot.name)); }

double total_time(const std::vector<const Location*>& locations) {
    double sum = 0;
    for (const Location* location : locations) sum += location == nullptr ? 0 : static_cast<double>(location->wall_ns);
    return sum;
}

/// The call tree as lines, iteratively: hostile profiles have trees of any depth.
class TreePrinter {
  public:
    TreePrinter(const ReportContext& context, const std::vector<FunctionNode>& nodes, TextWriter& to)
        : context_(context), nodes_(nodes), to_(to), source_width_(std::min<std::size_t>(30, to.width() / 4)) {}

    void print() {
        struct Entry {
            std::uint32_t node;
            std::string indent;
            bool last;
            bool top;
        };
        std::vector<Entry> stack;
        const auto push_children = [&](std::uint32_t parent, const std::string& indent, bool top) {
            std::vector<std::uint32_t> shown;
            for (const std::uint32_t child : nodes_[parent].children)
                if (nodes_[child].inclusive >= smallest_share * context_.wall) shown.push_back(child);
            for (std::size_t i = shown.size(); i-- > 0;) stack.push_back({shown[i], indent, i + 1 == shown.size(), top});
        };
        // Functions without a line in the source that only pass on to one other share its line: run > Verlet::run > pair.
        const auto chain_from = [&](std::uint32_t node) {
            std::vector<std::uint32_t> chain = {node};
            while (nodes_[node].source.empty() && !nodes_[node].interpreter && nodes_[node].exclusive < smallest_share * context_.wall &&
                   nodes_[node].children.size() != 0 && nodes_[nodes_[node].children[0]].inclusive > 0.999 * nodes_[node].inclusive)
                chain.push_back(node = nodes_[node].children[0]);
            return chain;
        };
        push_children(0, "", true);
        std::size_t lines = 0;
        while (!stack.empty() && lines < tree_lines_shown) {
            const Entry entry = stack.back();
            stack.pop_back();
            const bool u = to_.style().unicode;
            const std::string branch = entry.top ? "" : entry.last ? (u ? "└ " : "` ") : (u ? "├ " : "|-");
            const std::vector<std::uint32_t> chain = chain_from(entry.node);
            append_line(chain, entry.indent + branch);
            ++lines;
            push_children(chain.back(), entry.top ? "" : entry.indent + (entry.last ? "  " : u ? "│ " : "| "), false);
        }
        if (!stack.empty()) to_.dim(fmt::format("  ... and {} more call paths; --format json has all", stack.size()));
    }

  private:
    /// "a > b > c"; where there is no room the ends of the chain, which tell most.
    std::string chain_text(const std::vector<std::uint32_t>& chain, std::size_t room) const {
        std::vector<std::string> names;
        for (const std::uint32_t n : chain) names.push_back(printable(shown_name(nodes_[n].kind, nodes_[n].name)));
        const auto joined = [&](std::size_t front, std::size_t back) {
            std::string text;
            const auto add = [&text](const std::string& name) { text += (text.empty() ? "" : " > ") + name; };
            for (std::size_t i = 0; i < front; ++i) add(names[i]);
            if (front + back < names.size()) add("...");
            for (std::size_t i = names.size() - back; i < names.size(); ++i) add(names[i]);
            return text;
        };
        std::string best = joined(0, 1);
        const std::size_t fit = room / 4 + 1;                            // a name and what is between two take four columns at least
        for (const std::size_t front : {std::size_t{0}, std::size_t{1}}) // the begin of the chain is worth more than its middle
            for (std::size_t back = 1; back + front <= names.size() && back <= fit; ++back)
                if (const std::string text = joined(front, back); columns(text) <= room) best = text;
        return best;
    }

    void append_line(const std::vector<std::uint32_t>& chain, std::string prefix) const {
        const TextStyle& style = to_.style();
        FunctionNode node = nodes_[chain.back()];
        node.inclusive = nodes_[chain.front()].inclusive;
        const std::size_t room = to_.width() - 32 - source_width_;
        // Deep trees: the outer levels of the indentation give way to the name.
        if (columns(prefix) > room / 2) prefix = keep_end(style, prefix, room / 2);
        const std::string self = node.exclusive >= smallest_share * context_.wall ? percent(node.exclusive / context_.wall) : "";
        const double ranks = static_cast<double>(context_.values.size());
        std::string line = fmt::format("  {} {} {}  {} ", right(style, percent(node.inclusive / context_.wall), 8), right(style, self, 8),
                                       right(style, node.visits == 0 ? "" : count(std::round(node.visits / ranks)), 9),
                                       left(style, prefix + chain_text(chain, room - std::min(room, columns(prefix))), room));
        line += right(style, keep_end(style, printable(node.source), source_width_), source_width_);
        to_.row(line);
    }

    const ReportContext& context_;
    const std::vector<FunctionNode>& nodes_;
    TextWriter& to_;
    std::size_t source_width_;
};

} // namespace

void append_hot_spots(const ReportContext& context, const std::vector<const Location*>& locations, const std::string& title, const std::string& remark,
                      TextWriter& to) {
    SpotTable table = context.spots;
    const std::vector<HotSpot> spots = hot_spots(context.profile, locations, table);
    if (spots.empty()) return;
    const SpotErrors errors = spot_errors(context.profile, locations, table);
    const double wall = total_time(locations);
    const bool several = locations.size() > 1;
    const TextStyle& style = to.style();
    to.heading(title, remark);
    const std::size_t fixed = several ? 56 : 32;
    const std::size_t room = to.width() - fixed;
    std::size_t name_room = 8;
    for (std::size_t i = 0; i < std::min(spots.size(), spots_shown); ++i) name_room = std::max(name_room, columns(shown(table.spots[spots[i].spot])));
    name_room = std::min(name_room, room * 5 / 9);
    const std::size_t source_room = room - name_room - 1;
    to.dim(fmt::format("  {:>8}{} {:>11}", "share", right(style, spelled(style, "+-"), 8), several ? "per rank" : "time") +
           (several ? fmt::format(" {:>23}", "lowest .. highest") : "") + "  " + left(style, "function", name_room) + " where");
    double rest = 0;
    std::size_t lines = 0, others = 0;
    for (const HotSpot& spot : spots) {
        const double share = wall == 0 ? 0 : spot.total / wall;
        if (lines >= spots_shown || (share < smallest_share && lines >= 5)) {
            rest += share;
            ++others;
            continue;
        }
        ++lines;
        const Spot& what = table.spots[spot.spot];
        std::vector<double> present;
        for (std::size_t l = 0; l < locations.size(); ++l)
            if (locations[l] != nullptr) present.push_back(spot.by_location[l]);
        const Spread spread = spread_of(present);
        const std::string where = where_text(what.source, what.caller, what.through);
        const double error = wall == 0 ? 0 : errors.of(spot) / wall;
        std::string line = fmt::format("  {}{} {}", right(style, percent(share), 8), right(style, error == 0 ? "" : percent(error), 8),
                                       right(style, duration(spread.sum / static_cast<double>(present.size()), style), 11));
        if (several) line += right(style, fmt::format("{} .. {}", duration(spread.minimum, style), duration(spread.maximum, style)), 24);
        line += "  " + left(style, shown(what), name_room) + " " + left(style, printable(where), source_room);
        to.row(line);
    }
    if (others != 0) to.dim(fmt::format("  {}  in {} more functions", right(style, percent(rest), 8), others));
}

void append_call_tree(const ReportContext& context, TextWriter& to) {
    const std::vector<FunctionNode> nodes = function_tree(context.profile, context.locations, !context.full_paths);
    if (nodes[0].children.empty() || context.wall == 0) return;
    to.heading("Call paths", "share of all time with and without what is called; calls per rank of MPI functions; hottest line");
    to.dim(fmt::format("  {:>8} {:>8} {:>9}", "incl.", "own", "calls"));
    TreePrinter(context, nodes, to).print();
}

} // namespace libprofile::tools
