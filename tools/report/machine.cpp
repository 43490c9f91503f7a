#include "tools/report/machine.hpp"

#include "tools/analysis/machine_places.hpp"
#include "tools/names/labels.hpp"
#include "tools/plot/machine_picture.hpp"
#include "tools/report/rows.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace libprofile::tools {

namespace {

/// Rows of one machine. In text, neighbours of the same shape without ranks are one row, and what lies in a core is part of its row.
class MachineRows {
  public:
    MachineRows(const PlacedMachine& machine, bool with_all, ReportTable& table)
        : machine_(machine), tree_(*machine.tree), with_all_(with_all), table_(table) {}

    void add(std::uint32_t node, std::uint32_t depth) {
        add_row(node, node, 1, depth);
        if (!with_all_ && tree_.nodes[node].type == MachineObject::Core) return;
        for (std::uint32_t child = node + 1; child < tree_.nodes[node].end;) {
            std::uint32_t last = child, count = 1;
            while (!with_all_ && tree_.nodes[last].end < tree_.nodes[node].end && is_merged(child, tree_.nodes[last].end)) {
                last = tree_.nodes[last].end;
                ++count;
            }
            if (count == 1)
                add(child, depth + 1);
            else
                add_row(child, last, count, depth + 1);
            child = tree_.nodes[last].end;
        }
    }

  private:
    bool is_merged(std::uint32_t a, std::uint32_t b) const { return machine_.ranks[a].empty() && machine_.ranks[b].empty() && are_alike(tree_, a, b); }

    static std::string numbers(std::optional<std::uint32_t> first, std::optional<std::uint32_t> last) {
        if (!first) return "";
        return first == last || !last ? fmt::format(" {}", *first) : fmt::format("s {}-{}", *first, *last);
    }

    /// "core 3 (2 processors: 3, 67)", "cores 4-15, 12 alike (2 processors each)".
    std::string words(std::uint32_t first, std::uint32_t last, std::uint32_t count) const {
        const MachineNode& node = tree_.nodes[first];
        std::string text = count == 1 ? fmt::format("{}{}", machine_part(node.type), numbers(node.number, node.number))
                           : node.number && tree_.nodes[last].number
                               ? fmt::format("{}{}, {} alike", machine_part(node.type), numbers(node.number, tree_.nodes[last].number), count)
                               : fmt::format("{} {}s, alike", count, machine_part(node.type));
        if (node.kind != 0) text += fmt::format(", kind {}", node.kind);
        if (with_all_) return text;
        std::uint64_t cores = 0, processors = 0;
        std::vector<std::uint32_t> own;
        for (std::uint32_t i = first; i < node.end; ++i) {
            cores += tree_.nodes[i].type == MachineObject::Core ? 1 : 0;
            if (tree_.nodes[i].type != MachineObject::Processor) continue;
            ++processors;
            if (tree_.nodes[i].number) own.push_back(*tree_.nodes[i].number);
        }
        if (node.type == MachineObject::Core)
            return text + (count == 1 ? fmt::format(" ({} {})", processors == 1 ? "processor" : "processors", fmt::join(own, ", "))
                                      : fmt::format(" ({} each)", plural(processors, "processor")));
        return node.type == MachineObject::NumaNode || node.type == MachineObject::Processor || count == 1
                   ? text
                   : text + fmt::format(" ({}, {} each)", plural(cores, "core"), plural(processors, "processor"));
    }

    void add_row(std::uint32_t first, std::uint32_t last, std::uint32_t count, std::uint32_t depth) {
        const MachineNode& node = tree_.nodes[first];
        const std::vector<std::uint32_t>& ranks = machine_.ranks[first];
        table_.indent.push_back(depth);
        table_.rows.push_back({words(first, last, count), printable(machine_.used.host), std::uint64_t{depth}, std::string(machine_part(node.type)),
                               node.number ? ReportValue(std::uint64_t{*node.number}) : ReportValue(), node.size == 0 ? ReportValue() : ReportValue(node.size),
                               ranks.empty() ? ReportValue() : ReportValue(rank_words(std::span(ranks)))});
    }

    const PlacedMachine& machine_;
    const MachineTree& tree_;
    const bool with_all_;
    ReportTable& table_;
};

/// From each NUMA node to each other one.
ReportTable distances_of(const PlacedMachine& machine) {
    ReportTable table{"distances",
                      fmt::format("NUMA distances of {}", printable(machine.used.host)),
                      "as the firmware tells them: 10 is a node's own memory",
                      {},
                      {},
                      {},
                      {},
                      0,
                      ""};
    std::vector<std::uint32_t> numbers;
    for (const MachineNode& node : machine.tree->nodes)
        if (node.type == MachineObject::NumaNode) numbers.push_back(node.number.value_or(static_cast<std::uint32_t>(numbers.size())));
    table.columns = {{"host", "", ColumnUnit::Text}, {"node", "from node", ColumnUnit::Number}};
    for (const std::uint32_t number : numbers) table.columns.push_back({fmt::format("to_{}", number), fmt::format("to {}", number), ColumnUnit::Number});
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::vector<ReportValue>& row = table.rows.emplace_back(std::vector<ReportValue>{printable(machine.used.host), std::uint64_t{numbers[i]}});
        for (const std::uint64_t value : machine.tree->distances[i]) row.emplace_back(value);
    }
    return table;
}

std::vector<PlacedMachine> known_machines(const Profile& profile) {
    std::vector<PlacedMachine> machines = placed_machines(profile);
    if (std::all_of(machines.begin(), machines.end(), [](const PlacedMachine& machine) { return machine.tree == nullptr; }))
        throw SelectionError(
            "the profile does not have the machine; start the program with libprofile run where libhwloc.so.15 is installed: mpirun -n 4 libprofile "
            "run -- PROGRAM");
    return machines;
}

} // namespace

std::string machine_svg(const Profile& profile) { return machine_picture(known_machines(profile)).document(); }

ReportDocument machine_report(const Profile& profile, const ReportChoice& choice, const SelectionForm& form) {
    ReportDocument document = document_of(profile, choice);
    ReportTable table{"machine",
                      "Machine",
                      "what lies in what; ranks: where their main threads were last seen",
                      {{"", "part", ColumnUnit::Name, false, 20},
                       {"host", "", ColumnUnit::Text},
                       {"depth", "", ColumnUnit::Number},
                       {"type", "", ColumnUnit::Text},
                       {"number", "", ColumnUnit::Number},
                       {"size", "size", ColumnUnit::ByteCount},
                       {"ranks", "ranks", ColumnUnit::Text}},
                      {},
                      {},
                      {},
                      0,
                      "parts"};
    std::vector<ReportTable> distances;
    const std::vector<PlacedMachine> machines = known_machines(profile);
    for (const PlacedMachine& machine : machines) {
        if (machine.tree == nullptr) continue;
        document.facts.push_back(fmt::format("{}: {}, by {}", printable(machine.used.host), machine_words(machine.used.info), printable(machine.tree->source)));
        MachineRows(machine, form.everything, table).add(0, 0);
        if (machine.tree->distances.size() > 1) distances.push_back(distances_of(machine));
    }
    if (std::string sentence = unknown_machines(machines); !sentence.empty()) document.warnings.push_back(std::move(sentence));
    document.tables = std::move(distances);
    document.tables.push_back(std::move(table));
    return document;
}

} // namespace libprofile::tools
