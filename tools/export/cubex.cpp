// Cube 4 (.cubex), what Cube, Scalasca's tools, Extra-P and Hatchet open: a tar file of anchor.xml and, for each metric, an index
// and a matrix of values. Source: docs/cube_file_format.md of pyCubexR (BSD), which follows doi:10.1016/j.procs.2015.05.320.
//
// Cube has no axis of time. As in Scalasca, iterations are nodes of the call tree ("dynamic region instances"): below a phase there
// is one node for each iteration, or for several in a row where there are many, and the call paths are below those.
// All metrics are exclusive, so rows are numbered in pre-order. Types are DOUBLE (times, s) and UINT64 only: others break readers.
#include "tools/export/formats.hpp"
#include "tools/export/location_grid.hpp"
#include "tools/export/stacks.hpp"
#include "tools/names/xml.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace libprofile::tools {

namespace {

constexpr std::uint32_t most_instances = 100;

template <class Unsigned> void put(std::string& out, Unsigned value) {
    for (unsigned shift = 0; shift < 8 * sizeof value; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

/// POSIX.1-1988 (ustar).
class Tar {
  public:
    void add(const std::string& name, std::string_view bytes) {
        std::string header(512, '\0');
        const auto field = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
        field(0, name);
        field(100, "0000644");
        field(108, "0000000");
        field(116, "0000000");
        field(124, fmt::format("{:011o}", bytes.size()));
        field(136, "00000000000"); // the same profile gives the same file
        field(148, "        ");
        field(156, "0");
        field(257, std::string("ustar\0"
                               "00",
                               8));
        unsigned sum = 0;
        for (const char c : header) sum += static_cast<unsigned char>(c);
        field(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
        bytes_ += header;
        bytes_ += bytes;
        bytes_.resize((bytes_.size() + 511) / 512 * 512);
    }
    std::string finish() {
        bytes_.resize(bytes_.size() + 1024);
        return std::move(bytes_);
    }

  private:
    std::string bytes_;
};

std::string metrics_xml(const CallTable& table) {
    std::string out = " <metrics>\n";
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
        const MetricRow& row = table.metrics[m];
        const bool time = row.unit == "ns";
        out += fmt::format("  <metric id=\"{}\" type=\"EXCLUSIVE\">\n   <disp_name>{}</disp_name>\n   "
                           "<uniq_name>{}</uniq_name>\n"
                           "   <dtype>{}</dtype>\n   <uom>{}</uom>\n   <url></url>\n   <descr>{}</descr>\n  </metric>\n",
                           m, xml_text(row.name == "time" ? "Time" : row.label), xml_text(row.name), time ? "DOUBLE" : "UINT64",
                           time                  ? "sec"
                           : row.unit == "count" ? "occ"
                                                 : xml_text(row.unit),
                           xml_text(row.description));
    }
    return out + " </metrics>\n";
}

/// Cube's word for a construct of OpenMP; where it has none, that of functions.
const char* openmp_role(const std::string& name) {
    constexpr std::pair<const char*, const char*> roles[] = {{"omp parallel", "parallel"}, {"omp implicit barrier", "implicit barrier"},
                                                             {"omp barrier", "barrier"},   {"omp critical", "critical"},
                                                             {"omp ordered", "ordered"},   {"omp single", "single"},
                                                             {"omp taskwait", "task wait"}};
    for (const auto& [construct, role] : roles)
        if (name == construct) return role;
    return "function";
}

const char* paradigm_of(TableNode kind) { return kind == TableNode::Mpi ? "mpi" : kind == TableNode::OpenMp ? "openmp" : "compiler"; }

const char* role_of(TableNode kind, const std::string& name) {
    switch (kind) {
    case TableNode::OpenMp: return openmp_role(name);
    case TableNode::Mpi: return "mpi";
    case TableNode::Phase: return "dynamic";
    case TableNode::Iterations: return "dynamic instance";
    default: return "function";
    }
}

std::string program_xml(const CallTable& table, const std::vector<std::uint32_t>& order) {
    std::map<std::tuple<TableNode, std::string, std::string, std::string, std::uint64_t>, std::size_t> regions;
    std::string out = " <program>\n", tree;
    std::vector<std::uint32_t> open;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const CallTable::Node& node = table.nodes[order[i]];
        const auto [entry, is_new] = regions.try_emplace({node.kind, node.name, node.file, node.module, node.line}, regions.size());
        if (is_new) {
            const std::string name = xml_text(node.name);
            out += fmt::format("  <region id=\"{}\" mod=\"{}\" begin=\"{}\" end=\"-1\">\n   "
                               "<name>{}</name>\n   <mangled_name>{}</mangled_name>\n"
                               "   <paradigm>{}</paradigm>\n   <role>{}</role>\n   <url></url>\n   "
                               "<descr></descr>\n  </region>\n",
                               entry->second, xml_text(node.file.empty() ? node.module : node.file), node.line == 0 ? -1 : static_cast<std::int64_t>(node.line),
                               name, name, paradigm_of(node.kind), role_of(node.kind, node.name));
        }
        while (!open.empty() && open.back() != node.parent) {
            tree += "</cnode>\n";
            open.pop_back();
        }
        tree += fmt::format("<cnode id=\"{}\" calleeId=\"{}\">\n", i, entry->second);
        open.push_back(order[i]);
    }
    for (std::size_t i = 0; i < open.size(); ++i) tree += "</cnode>\n";
    return out + tree + " </program>\n";
}

std::string system_xml(const CallTable& table, const LocationGrid& grid) {
    std::string out = " <system>\n  <systemtreenode Id=\"0\">\n   <name>machine</name>\n   <class>machine</class>\n";
    std::size_t tree_node = 1;
    std::string host;
    for (std::size_t r = 0; r < grid.rows.size(); ++r) {
        const CallTable::Location& main = table.locations[*grid.rows[r].locations[0]];
        if (r == 0 || main.host != host) {
            if (r != 0) out += "   </systemtreenode>\n";
            host = main.host;
            out += fmt::format("   <systemtreenode Id=\"{}\">\n    <name>{}</name>\n    <class>node</class>\n", tree_node++, xml_text(host));
        }
        out += fmt::format("    <locationgroup Id=\"{}\">\n     <name>MPI Rank {}</name>\n     "
                           "<rank>{}</rank>\n     <type>process</type>\n",
                           r, grid.rows[r].rank, r);
        for (std::size_t t = 0; t < grid.threads; ++t)
            out += fmt::format("     <location Id=\"{}\">\n      <name>{}</name>\n      <rank>{}</rank>\n    "
                               "  <type>thread</type>\n     </location>\n",
                               r * grid.threads + t, t == 0 ? std::string("Main thread") : fmt::format("Thread {}", t), t);
        out += "    </locationgroup>\n";
    }
    return out + "   </systemtreenode>\n  </systemtreenode>\n </system>\n";
}

/// Rows in pre-order that have a value at some location, and these values.
void add_values(const CallTable& table, const LocationGrid& grid, const std::vector<std::uint32_t>& order, std::size_t metric, Tar& tar) {
    std::vector<std::size_t> row_of(table.nodes.size());
    for (std::size_t i = 0; i < order.size(); ++i) row_of[order[i]] = i;
    std::vector<char> present(order.size());
    for (const auto& values : table.values)
        for (const CallTable::Value& value : values)
            if (value.metric == metric) present[row_of[value.node]] = 1;
    std::vector<std::size_t> dense(order.size()); // position among the rows that are present
    std::string index = "CUBEX.INDEX";
    put(index, std::uint32_t{1});
    put(index, std::uint16_t{0});
    index += '\1'; // sparse
    put(index, static_cast<std::uint32_t>(std::count(present.begin(), present.end(), 1)));
    std::size_t rows = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
        if (present[i] != 0) {
            put(index, static_cast<std::uint32_t>(i));
            dense[i] = rows++;
        }
    const std::size_t locations = grid.rows.size() * grid.threads;
    std::vector<std::uint64_t> matrix(rows * locations);
    for (std::size_t l = 0; l < locations; ++l) {
        const std::optional<std::size_t> location = grid.rows[l / grid.threads].locations[l % grid.threads];
        if (!location) continue;
        for (const CallTable::Value& value : table.values[*location])
            if (value.metric == metric)
                matrix[dense[row_of[value.node]] * locations + l] =
                    table.metrics[metric].unit == "ns" ? std::bit_cast<std::uint64_t>(static_cast<double>(value.value) / 1e9) : value.value;
    }
    std::string data = "CUBEX.DATA";
    for (const std::uint64_t value : matrix) put(data, value);
    tar.add(fmt::format("{}.index", metric), index);
    tar.add(fmt::format("{}.data", metric), data);
}

} // namespace

Remarks write_cubex(const Profile& profile, const ExportRequest& request, Sink& sink) {
    TableChoice choice = request.choice;
    choice.instances = most_instances;
    const CallTable table = make_call_table(profile, choice);
    const LocationGrid grid = location_grid(table);
    const std::vector<std::uint32_t> order = pre_order(table);
    std::string anchor = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n";
    const auto attribute = [&](const char* key, const std::string& value) {
        anchor += fmt::format(" <attr key=\"{}\" value=\"{}\"/>\n", key, xml_text(value));
    };
    attribute("Creator", "libprofile " + profile.job.version);
    attribute("CUBE_CT_AGGR", "SUM");
    attribute("libprofile command", profile.job.command);
    if (!table.scope.empty()) attribute("libprofile selection", table.scope);
    attribute("libprofile values of single iterations are estimates", table.estimated ? "yes" : "no");
    anchor += metrics_xml(table) + program_xml(table, order) + system_xml(table, grid) + "</cube>\n";
    Tar tar;
    tar.add("anchor.xml", anchor);
    for (std::size_t m = 0; m < table.metrics.size(); ++m) add_values(table, grid, order, m, tar);
    sink.add("profile.cubex", tar.finish());
    return grid.remarks;
}

} // namespace libprofile::tools
