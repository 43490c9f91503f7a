// An HPCToolkit database of version 3: experiment.xml with the tree, and a matrix of doubles for each thread.
//
// Written for the readers in Hatchet (hpctoolkit_reader.py of 1.4.0 and of LLNL's branch), whose habits explain the details:
// - it takes metrics in the order of their ids as text, so ids have equally many digits;
// - it calls CPUTIME (sec) "time", and metrics inclusive whose name has "(inc)" or "(I)";
// - it puts the line of a call site before the callee's name unless the line is 0;
// - it finds the number of ranks by the file names with "-000-", so nothing else may have that.
// Values are doubles: integers up to 2^53 and times up to 100 days in ns are exact.
#include "tools/export/formats.hpp"
#include "tools/export/location_grid.hpp"
#include "tools/names/xml.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <map>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_threads = 500; // from there on readers see streams of a GPU

/// Numbers of texts, from 1 on, in the order of their first use.
class Names {
  public:
    std::size_t operator[](const std::string& name) {
        const auto [entry, is_new] = numbers_.try_emplace(name, order_.size() + 1);
        if (is_new) order_.push_back(name);
        return entry->second;
    }
    std::string table(const char* table, const char* element) const {
        std::string out = fmt::format("    <{}>\n", table);
        for (std::size_t i = 0; i < order_.size(); ++i) out += fmt::format("      <{} i=\"{}\" n=\"{}\"/>\n", element, i + 1, xml_text(order_[i]));
        return out + fmt::format("    </{}>\n", table);
    }

  private:
    std::map<std::string, std::size_t> numbers_;
    std::vector<std::string> order_;
};

std::string metric_name(const MetricRow& row, bool inclusive) {
    if (row.name == "time") return inclusive ? "CPUTIME (sec) (I)" : "CPUTIME (sec) (E)";
    return row.name + (inclusive ? " (inc)" : "");
}

std::string metric_tables(const CallTable& table) {
    const std::size_t count = 2 * table.metrics.size();
    const std::size_t digits = fmt::formatted_size("{}", count - 1);
    std::string raw = "    <MetricTable>\n", db = "    <MetricDBTable>\n";
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = xml_text(metric_name(table.metrics[i / 2], i % 2 != 0));
        const char* type = i % 2 != 0 ? "inclusive" : "exclusive";
        const std::size_t partner = i ^ 1;
        raw += fmt::format("      <Metric i=\"{:0{}}\" n=\"{}\" v=\"raw\" t=\"{}\" partner=\"{:0{}}\" "
                           "show=\"1\" show-percent=\"1\"/>\n",
                           i, digits, name, type, partner, digits);
        db += fmt::format("      <MetricDB i=\"{:0{}}\" n=\"{}\" t=\"{}\" partner=\"{:0{}}\" "
                          "db-glob=\"*.metric-db\" db-id=\"{}\" db-num-metrics=\"{}\" db-header-sz=\"32\"/>\n",
                          i, digits, name, type, partner, digits, i, count);
    }
    return raw + "    </MetricTable>\n" + db + "    </MetricDBTable>\n";
}

std::string experiment(const CallTable& table) {
    Names modules, files, procedures;
    std::vector<std::vector<std::uint32_t>> children(table.nodes.size());
    for (std::uint32_t n = 1; n < table.nodes.size(); ++n) children[table.nodes[n].parent].push_back(n);
    std::string tree;
    const auto open = [&](std::uint32_t n) {
        const CallTable::Node& node = table.nodes[n];
        tree += fmt::format("<PF i=\"{}\" s=\"{}\" l=\"{}\" lm=\"{}\" f=\"{}\" n=\"{}\">", n + 1, n + 1, node.line,
                            modules[node.module.empty() ? "<unknown module>" : node.module], files[node.file.empty() ? "<unknown file>" : node.file],
                            procedures[node.name]);
        if (!children[n].empty()) tree += fmt::format("<C i=\"{}\" s=\"{}\" l=\"0\">\n", n + 1, n + 1);
    };
    // Not recursive: a damaged profile may be very deep.
    struct Step {
        std::uint32_t node;
        std::size_t next;
    };
    std::vector<Step> stack{{0, 0}};
    open(0);
    while (!stack.empty()) {
        Step& step = stack.back();
        if (step.next < children[step.node].size()) {
            const std::uint32_t child = children[step.node][step.next++];
            open(child);
            stack.push_back({child, 0});
        } else {
            tree += children[step.node].empty() ? "</PF>\n" : "</C></PF>\n";
            stack.pop_back();
        }
    }
    const std::string program = xml_text(table.nodes[0].name);
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HPCToolkitExperiment version=\"2.0\">\n "
                       " <Header n=\"{}\">\n    <Info/>\n"
                       "  </Header>\n  <SecCallPathProfile i=\"0\" n=\"{}\">\n  <SecHeader>\n",
                       program, program) +
           metric_tables(table) + modules.table("LoadModuleTable", "LoadModule") + files.table("FileTable", "File") +
           procedures.table("ProcedureTable", "Procedure") + "    <Info/>\n  </SecHeader>\n  <SecCallPathProfileData>\n" + tree +
           "  </SecCallPathProfileData>\n  </SecCallPathProfile>\n</HPCToolkitExperiment>\n";
}

template <class Unsigned> void put_big_endian(std::string& out, Unsigned value) {
    for (int shift = 8 * static_cast<int>(sizeof value) - 8; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
}

/// Rows are nodes, columns exclusive and inclusive values of each metric.
std::string matrix(const CallTable& table, std::optional<std::size_t> location) {
    const std::size_t metrics = table.metrics.size();
    std::vector<double> values(2 * metrics * table.nodes.size());
    for (std::size_t m = 0; location && m < metrics; ++m) {
        const double unit = table.metrics[m].unit == "ns" ? 1e9 : 1;
        const std::vector<std::uint64_t> sums[] = {table.exclusive(*location, m), table.inclusive(*location, m)};
        for (std::size_t n = 0; n < table.nodes.size(); ++n)
            for (std::size_t i = 0; i < 2; ++i) values[2 * (n * metrics + m) + i] = static_cast<double>(sums[i][n]) / unit;
    }
    std::string out = "HPCPROF-metricdb__00.10b";
    put_big_endian(out, static_cast<std::uint32_t>(table.nodes.size()));
    put_big_endian(out, static_cast<std::uint32_t>(2 * metrics));
    for (const double value : values) put_big_endian(out, std::bit_cast<std::uint64_t>(value));
    return out;
}

/// Names that a pattern with '-' between the parts takes apart rightly.
std::string file_stem(const std::string& program) {
    std::string stem = program.empty() ? "program" : program;
    for (char& c : stem)
        if (std::strchr("-/*?[] ", c) != nullptr) c = '_';
    return stem;
}

} // namespace

Remarks write_hpctoolkit(const Profile& profile, const ExportRequest& request, Sink& sink) {
    const CallTable table = make_call_table(profile, request.choice);
    const LocationGrid grid = location_grid(table);
    if (grid.threads > most_threads)
        throw ExportError(fmt::format("a rank has {} threads, and this format has room for {}; choose other ranks with --rank", grid.threads, most_threads));
    sink.add("experiment.xml", experiment(table));
    std::map<std::string, std::uint32_t> hosts;
    for (std::size_t r = 0; r < grid.rows.size(); ++r) {
        const CallTable::Location& main = table.locations[*grid.rows[r].locations[0]];
        const std::uint32_t host = hosts.try_emplace(main.host, 0x10000001u + static_cast<std::uint32_t>(hosts.size())).first->second;
        for (std::size_t t = 0; t < grid.threads; ++t)
            sink.add(fmt::format("{}-{:06}-{:03}-{:08x}-{}-0.metric-db", file_stem(table.nodes[0].name), r, t, host, main.pid),
                     matrix(table, grid.rows[r].locations[t]));
    }
    Remarks remarks = grid.remarks;
    for (std::string& remark : untold_remarks(table)) remarks.push_back(std::move(remark));
    return remarks;
}

} // namespace libprofile::tools
