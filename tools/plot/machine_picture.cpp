#include "tools/plot/machine_picture.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr double text_size = 10, title_size = 13, line_height = 12, padding = 4, gap = 4, margin = 12, least_width = 460;
constexpr double wanted_ratio = 1.6; // of the width of boxes to their height
constexpr double gaps_cost = 1;      // of a last row that is not full, as a logarithm of this ratio
constexpr double cell_width = 34, cell_height = 17;
constexpr std::size_t most_lines = 6, most_distances = 32; // of text in a processor; NUMA nodes

/// At most: fonts differ.
double text_width(const std::string& text, double size) { return static_cast<double>(columns(text)) * 0.6 * size; }

std::string fitted(const std::string& text, double width, double size) {
    const auto room = static_cast<std::size_t>(std::max(1.0, width / (0.6 * size)));
    return columns(text) <= room ? text : left({}, text, room);
}

/// Children side by side and one below the other.
struct Grid {
    std::vector<double> widths, heights; // of columns and rows
    static double length(const std::vector<double>& parts) {
        return parts.empty() ? 0 : std::accumulate(parts.begin(), parts.end(), gap * static_cast<double>(parts.size() - 1));
    }
    double width() const { return length(widths); }
    double height() const { return length(heights); }
};

struct Size {
    double width = 0, height = 0;
};

Grid grid_of(const std::vector<Size>& sizes) {
    Size most;
    for (const Size& size : sizes) most = {std::max(most.width, size.width), std::max(most.height, size.height)};
    const std::size_t n = sizes.size();
    std::size_t best = 1;
    double least = INFINITY;
    for (std::size_t c = 1; c <= n; ++c) {
        const std::size_t rows = (n + c - 1) / c;
        const double ratio = (most.width + gap) * static_cast<double>(c) / ((most.height + gap) * static_cast<double>(rows));
        const double badness = std::abs(std::log(ratio / wanted_ratio)) + (rows * c == n ? 0 : gaps_cost);
        if (badness < least) least = badness, best = c;
    }
    Grid grid;
    grid.widths.resize(std::min(best, n));
    grid.heights.resize((n + best - 1) / best);
    for (std::size_t i = 0; i < n; ++i) {
        double &width = grid.widths[i % best], &height = grid.heights[i / best];
        width = std::max(width, sizes[i].width);
        height = std::max(height, sizes[i].height);
    }
    return grid;
}

/// "rank 3"; "ranks 0-3"; of other threads than the main ones "rank 3", "threads 1-4".
std::vector<std::string> thread_lines(const std::vector<PlacedThread>& threads) {
    constexpr std::size_t shown = 3; // ranges of numbers
    std::map<std::uint32_t, std::vector<std::uint32_t>> of_rank;
    for (const PlacedThread& thread : threads) of_rank[thread.rank].push_back(thread.thread);
    std::vector<std::string> lines;
    std::vector<std::uint32_t> mains;
    for (const auto& [rank, numbers] : of_rank)
        if (numbers == std::vector<std::uint32_t>{0}) mains.push_back(rank);
    if (!mains.empty()) lines.push_back(rank_words(std::span<const std::uint32_t>(mains), shown));
    std::size_t left_out = 0;
    for (const auto& [rank, numbers] : of_rank) {
        if (numbers == std::vector<std::uint32_t>{0}) continue;
        if (lines.size() + 2 > most_lines) {
            ++left_out;
            continue;
        }
        lines.push_back(fmt::format("rank {}", rank));
        lines.push_back(fmt::format("{} {}", numbers.size() == 1 ? "thread" : "threads", number_ranges(std::span<const std::uint32_t>(numbers), shown)));
    }
    if (left_out != 0) lines.push_back(fmt::format("+ {}", plural(left_out, "rank")));
    return lines;
}

class MachineDrawing {
  public:
    explicit MachineDrawing(const PlacedMachine& machine) : machine_(machine), nodes_(machine.tree->nodes), sizes_(nodes_.size()), grids_(nodes_.size()) {
        measure(0);
        const double width = std::max(least_width, sizes_[0].width);
        title_ = wrapped(fmt::format("{}: {}", printable(machine.used.host), machine_words(machine.used.info)),
                         static_cast<std::size_t>(width / (0.6 * title_size)));
        for (std::string& line : title_) line = fitted(line, width, title_size);
        const std::size_t n = machine.tree->distances.size();
        size_ = {width, title_height() + sizes_[0].height};
        if (n < 2) return;
        const double side = n > most_distances ? 0 : static_cast<double>(n + 1);
        size_.width = std::max(size_.width, side * cell_width);
        size_.height += margin + line_height + padding + (side + 1) * cell_height;
    }

    const Size& size() const { return size_; }

    void draw(Svg& svg, double x, double y) const {
        for (std::size_t i = 0; i < title_.size(); ++i)
            svg.text(x, y + title_size + static_cast<double>(i) * (title_size + 4), title_[i], Anchor::Start, title_size, "#000000");
        const Box box{x, y + title_height(), sizes_[0].width, sizes_[0].height};
        draw_part(svg, 0, box);
        if (machine_.tree->distances.size() > 1) draw_distances(svg, x, box.bottom() + margin);
    }

  private:
    double title_height() const { return static_cast<double>(title_.size()) * (title_size + 4) + padding; }

    /// The first line of a box.
    std::string label(const MachineNode& node) const {
        const bool is_cache = node.type >= MachineObject::L5Cache && node.type <= MachineObject::L1Cache;
        if (node.type == MachineObject::Processor) return node.number ? fmt::format("{}", *node.number) : "";
        if (node.type == MachineObject::Machine || node.type == MachineObject::Group) return "";
        std::string text = is_cache ? std::string(machine_part(node.type)).substr(0, 2) : machine_part(node.type);
        if (node.number && !is_cache) text += fmt::format(" {}", *node.number);
        if (node.size != 0) text += fmt::format("{}{}", is_cache ? " " : ", ", byte_size(static_cast<double>(node.size)));
        if (node.kind != 0) text += fmt::format(", kind {}", node.kind);
        return text;
    }
    std::vector<std::string> lines(std::uint32_t node) const {
        std::vector<std::string> all;
        if (std::string first = label(nodes_[node]); !first.empty()) all.push_back(std::move(first));
        for (std::string& line : thread_lines(machine_.threads[node])) all.push_back(std::move(line));
        return all;
    }

    static const char* colour(const MachineNode& node) {
        switch (node.type) {
        case MachineObject::Machine: return "#ffffff";
        case MachineObject::Package: return "#eef0f2";
        case MachineObject::NumaNode: return "#f3ded6";
        case MachineObject::Core: return "#dde2e7";
        case MachineObject::Processor: return "#ffffff";
        default: return "#f8f9fa";
        }
    }

    /// Memory lies across its parent, above what computes.
    void split(std::uint32_t node, std::vector<std::uint32_t>& memory, std::vector<std::uint32_t>& others) const {
        for (std::uint32_t child = node + 1; child < nodes_[node].end; child = nodes_[child].end)
            (nodes_[child].type == MachineObject::NumaNode ? memory : others).push_back(child);
    }

    void measure(std::uint32_t node) {
        const std::vector<std::string> text = lines(node);
        Size size{0, static_cast<double>(text.size()) * line_height};
        for (const std::string& line : text) size.width = std::max(size.width, text_width(line, text_size));
        std::vector<std::uint32_t> memory, others;
        split(node, memory, others);
        std::vector<Size> of_others;
        for (const std::uint32_t child : memory) {
            measure(child);
            size.width = std::max(size.width, sizes_[child].width);
            size.height += sizes_[child].height + gap;
        }
        for (const std::uint32_t child : others) {
            measure(child);
            of_others.push_back(sizes_[child]);
        }
        grids_[node] = grid_of(of_others);
        size.width = std::max(size.width, grids_[node].width());
        size.height += grids_[node].height();
        sizes_[node] = {size.width + 2 * padding, size.height + 2 * padding};
    }

    /// @param box at least as large as was measured
    void draw_part(Svg& svg, std::uint32_t node, const Box& box) const {
        const bool is_used = !machine_.threads[node].empty();
        svg.rectangle(box, is_used ? "#a9d3f5" : colour(nodes_[node]));
        svg.frame(box, is_used ? "#0062b8" : "#8a949e");
        double y = box.y + padding;
        for (const std::string& line : lines(node)) {
            svg.text(box.x + padding, y + text_size - 1, line, Anchor::Start, text_size, "#1b1f24");
            y += line_height;
        }
        std::vector<std::uint32_t> memory, others;
        split(node, memory, others);
        const double width = box.width - 2 * padding;
        for (const std::uint32_t child : memory) {
            draw_part(svg, child, {box.x + padding, y, width, sizes_[child].height});
            y += sizes_[child].height + gap;
        }
        if (others.empty()) return;
        // What is left over is shared evenly.
        const Grid& grid = grids_[node];
        const double more_width = (width - grid.width()) / static_cast<double>(grid.widths.size());
        const double more_height = (box.bottom() - padding - y - grid.height()) / static_cast<double>(grid.heights.size());
        std::size_t i = 0;
        for (const double height : grid.heights) {
            double x = box.x + padding;
            for (std::size_t c = 0; c < grid.widths.size() && i < others.size(); ++c, ++i) {
                draw_part(svg, others[i], {x, y, grid.widths[c] + more_width, height + more_height});
                x += grid.widths[c] + more_width + gap;
            }
            y += height + more_height + gap;
        }
    }

    void draw_distances(Svg& svg, double x, double y) const {
        const std::vector<std::vector<std::uint64_t>>& rows = machine_.tree->distances;
        std::vector<std::string> numbers;
        for (const MachineNode& node : nodes_)
            if (node.type == MachineObject::NumaNode) numbers.push_back(node.number ? fmt::format("{}", *node.number) : "?");
        y += line_height;
        if (rows.size() > most_distances) {
            svg.text(x, y, fmt::format("NUMA distances of {} nodes: libprofile report --machine", rows.size()));
            return;
        }
        svg.text(x, y, "NUMA distances from nodes of rows to those of columns; own memory: 10");
        y += padding;
        std::uint64_t least = UINT64_MAX, most = 0;
        for (const std::vector<std::uint64_t>& row : rows)
            for (const std::uint64_t value : row) least = std::min(least, value), most = std::max(most, value);
        const auto text = [&](std::size_t row, std::size_t column, const std::string& value) {
            svg.text(x + (static_cast<double>(column) + 0.5) * cell_width, y + static_cast<double>(row) * cell_height + text_size + 2,
                     fitted(value, cell_width, text_size), Anchor::Middle, text_size, "#1b1f24");
        };
        for (std::size_t i = 0; i < rows.size(); ++i) {
            text(0, i + 1, numbers[i]);
            text(i + 1, 0, numbers[i]);
            for (std::size_t j = 0; j < rows[i].size(); ++j) {
                // From white to orange.
                const double share = most == least ? 0 : static_cast<double>(rows[i][j] - least) / static_cast<double>(most - least);
                const Box cell{x + static_cast<double>(j + 1) * cell_width, y + static_cast<double>(i + 1) * cell_height, cell_width, cell_height};
                svg.rectangle(cell, fmt::format("#{:02x}{:02x}{:02x}", 255, static_cast<int>(std::lround(255 - 75 * share)),
                                                static_cast<int>(std::lround(255 - 145 * share))));
                svg.frame(cell, "#c8ced4");
                text(i + 1, j + 1, fmt::format("{}", rows[i][j]));
            }
        }
    }

    const PlacedMachine& machine_;
    const std::vector<MachineNode>& nodes_;
    std::vector<Size> sizes_; // by node
    std::vector<Grid> grids_; // by node: of its children but memory
    std::vector<std::string> title_;
    Size size_;
};

} // namespace

Svg machine_picture(std::span<const PlacedMachine> machines) {
    std::vector<MachineDrawing> drawings;
    for (const PlacedMachine& machine : machines)
        if (machine.tree != nullptr) drawings.emplace_back(machine);
    Size size{least_width, margin};
    for (const MachineDrawing& drawing : drawings) {
        size.width = std::max(size.width, drawing.size().width);
        size.height += drawing.size().height + margin;
    }
    std::vector<std::string> without;
    if (const std::string sentence = unknown_machines(machines); !sentence.empty())
        without = wrapped(sentence, static_cast<std::size_t>(size.width / (0.6 * 11)));
    Svg svg(std::ceil(size.width + 2 * margin), std::ceil(size.height + static_cast<double>(without.size()) * 15));
    double y = margin;
    for (const MachineDrawing& drawing : drawings) {
        drawing.draw(svg, margin, y);
        y += drawing.size().height + margin;
    }
    for (const std::string& line : without) svg.text(margin, y, fitted(line, size.width, 11)), y += 15;
    return svg;
}

} // namespace libprofile::tools
