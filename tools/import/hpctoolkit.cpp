// HPCToolkit databases of version 3: experiment.xml with tables of names and the tree, and a matrix of big-endian doubles for each thread
// (NAME-RANK-THREAD-HOST-PID-0.metric-db): a row for each node id.
//
// Procedure frames (PF, Pr for inlined ones) are nodes; so are loops (L) and statements (S), as in Hatchet. Call sites (C) are not: their
// values go to the nearest node above, but that of a call site without a statement is the caller's own.
#include "tools/import/file_bytes.hpp"
#include "tools/import/frame_builder.hpp"
#include "tools/import/hpctoolkit_names.hpp"
#include "tools/import/importers.hpp"
#include "tools/import/xml_file.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <map>
#include <unordered_map>

namespace libprofile::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t id_bytes = 8, hpctoolkit_name_bytes = 112;
constexpr std::uint32_t no_node = std::numeric_limits<std::uint32_t>::max();

struct MetricOfDatabase {
    std::string name;
    std::size_t column = 0;
    double factor = 1;
};

std::uint32_t node_number(std::string_view text) {
    if (text.empty()) return 0;
    const std::uint64_t value = whole_number_in(text);
    if (value >= no_node) throw FrameError("a number is too large");
    return static_cast<std::uint32_t>(value);
}

class Experiment {
  public:
    Experiment(std::string_view document, const MemoryLimit& memory) : builder_("(program)", memory) {
        read_xml(document, {[this](std::string_view element, const XmlAttributes& attributes) { begin(element, attributes); },
                            [this](std::string_view element) { end(element); }});
        if (metrics_.empty()) throw FrameError("it has no exclusive metrics");
        for (std::uint32_t id = 1; id < node_of_.size(); ++id)
            if (node_of_[id] != no_node) rows_.emplace_back(node_of_[id], id - 1);
        std::sort(rows_.begin(), rows_.end());
    }

    FrameBuilder& builder() { return builder_; }
    const std::vector<MetricOfDatabase>& metrics() const { return metrics_; }
    std::size_t columns() const { return columns_; }
    /// No node has a row from this one on.
    std::uint64_t most_rows() const { return node_of_.size(); }
    /// Nodes in their order, each with the row of the matrices that it has; a node may have several.
    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& rows() const { return rows_; }

  private:
    void begin(std::string_view element, const XmlAttributes& a) {
        if (element == "MetricDB") {
            const HpctoolkitMetric name(a["n"], a["t"]);
            columns_ = std::max<std::size_t>(columns_, node_number(a["db-num-metrics"]));
            if (!name.is_inclusive) {
                const bool is_known = std::any_of(metrics_.begin(), metrics_.end(), [&](const MetricOfDatabase& m) { return m.name == name.name; });
                const std::string called = is_known ? std::string(a["n"]) : name.name; // CPUTIME and REALTIME are not one time
                metrics_.push_back({called, node_number(a["db-id"]), name.factor});
                builder_.metric(called, name.is_time ? "ns" : "");
            }
        } else if (element == "LoadModule" || element == "File" || element == "Procedure")
            add_name(element, node_number(a["i"]), a["n"]);
        else if (element == "PF" || element == "Pr" || element == "L" || element == "S" || element == "C")
            open(element, a);
    }

    void add_name(std::string_view element, std::uint32_t number, std::string_view name) {
        builder_.memory().take(hpctoolkit_name_bytes + name.size());
        (element == "LoadModule" ? modules_ : element == "File" ? files_ : procedures_)[number] = name;
    }

    void open(std::string_view element, const XmlAttributes& a) {
        const std::uint32_t parent = stack_.empty() ? 0 : stack_.back().node;
        const std::uint32_t line = node_number(a["l"]);
        std::uint32_t node = parent;
        Open opened{0, 0, 0};
        if (element == "PF" || element == "Pr") {
            opened.file = node_number(a["f"]);
            opened.module = node_number(a["lm"]);
            // "PF" has the number of its procedure as name in version 3, or the name itself.
            const std::string_view n = a["n"];
            const bool is_number = n.find_first_not_of("0123456789") == std::string_view::npos && !n.empty();
            const std::string name = is_number ? procedures_[node_number(n)] : std::string(n);
            node = builder_.add(parent, {name, element == "PF" ? "function" : "inlined", known_to_hpctoolkit(files_[opened.file]),
                                         known_to_hpctoolkit(modules_[opened.module]), line});
        } else if (element != "C") {
            const Open& frame = stack_.empty() ? opened : stack_.back();
            const std::string_view f = a["f"];
            opened.file = f.empty() || f.find_first_not_of("0123456789") != std::string_view::npos ? frame.file : node_number(f);
            opened.module = frame.module;
            const std::string file = files_[opened.file];
            const std::string name = fmt::format("{} {}:{}", element == "L" ? "loop at" : "line", file.substr(file.rfind('/') + 1), line);
            node = builder_.add(parent,
                                {name, element == "L" ? "loop" : "statement", known_to_hpctoolkit(file), known_to_hpctoolkit(modules_[opened.module]), line});
        } else if (!stack_.empty()) {
            opened = stack_.back();
        }
        opened.node = node;
        const std::uint32_t id = node_number(a["i"]);
        if (id > 100 * (builder_.nodes() + 1000)) throw FrameError("the ids of nodes have too large gaps");
        if (node_of_.size() <= id) {
            builder_.memory().take(id_bytes * (id + 1 - node_of_.size()));
            node_of_.resize(id + 1, no_node);
        }
        node_of_[id] = node;
        stack_.push_back(opened);
    }

    void end(std::string_view element) {
        if ((element == "PF" || element == "Pr" || element == "L" || element == "S" || element == "C") && !stack_.empty()) stack_.pop_back();
    }

    struct Open {
        std::uint32_t node, file, module;
    };
    FrameBuilder builder_;
    std::vector<MetricOfDatabase> metrics_;
    std::size_t columns_ = 0;
    std::unordered_map<std::uint32_t, std::string> modules_, files_, procedures_;
    std::vector<Open> stack_;
    std::vector<std::uint32_t> node_of_; // by id
    std::vector<std::pair<std::uint32_t, std::uint32_t>> rows_;
};

template <class Unsigned> Unsigned big_endian(const char* bytes) {
    Unsigned value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}

/// A file read piece by piece: one that is sparse on disk may claim to be larger than memory.
class MatrixFile {
  public:
    explicit MatrixFile(const fs::path& file) : in_(file, std::ios::binary), name_(file.filename().string()) {
        std::error_code error;
        size_ = fs::file_size(file, error);
        if (!in_ || error) throw FrameError(fmt::format("{} cannot be read", name_));
    }
    const std::string& name() const { return name_; }
    std::uint64_t size() const { return size_; }

    /// Valid until the next call.
    const char* at(std::uint64_t from, std::size_t count) {
        if (from > size_ || count > size_ - from) throw FrameError(fmt::format("{} ends early", name_));
        if (from < begin_ || from + count > begin_ + window_.size()) {
            constexpr std::uint64_t piece = 1u << 17;
            window_.resize(std::max<std::uint64_t>(count, std::min(piece, size_ - from)));
            begin_ = from;
            in_.seekg(static_cast<std::streamoff>(from));
            if (!in_.read(window_.data(), static_cast<std::streamsize>(window_.size()))) throw FrameError(fmt::format("{} cannot be read", name_));
        }
        return window_.data() + (from - begin_);
    }

  private:
    std::ifstream in_;
    std::string name_;
    std::uint64_t size_ = 0, begin_ = 0;
    std::string window_;
};

void add_matrix(Experiment& experiment, const fs::path& path, std::uint32_t place) {
    constexpr std::string_view magic = "HPCPROF-metricdb__";
    constexpr std::size_t header = 32;
    MatrixFile file(path);
    const char* const head = file.size() < header ? nullptr : file.at(0, header);
    if (head == nullptr || std::string_view(head, magic.size()) != magic || head[23] != 'b') throw FrameError(fmt::format("{} is no matrix", file.name()));
    const std::uint64_t rows = big_endian<std::uint32_t>(head + 24), columns = big_endian<std::uint32_t>(head + 28);
    if (columns == 0 || (file.size() - header) / 8 / columns < rows) throw FrameError(fmt::format("{} ends early", file.name()));
    FrameBuilder& builder = experiment.builder();
    std::vector<std::uint32_t> numbers;
    for (const MetricOfDatabase& metric : experiment.metrics()) {
        if (metric.column >= columns) throw FrameError(fmt::format("{} lacks the metric {}", file.name(), metric.name));
        numbers.push_back(builder.metric(metric.name, ""));
    }
    // The columns that are read of a row lie together, but for a file that was made to look otherwise.
    std::size_t first = columns, last = 0;
    for (const MetricOfDatabase& metric : experiment.metrics()) {
        first = std::min(first, metric.column);
        last = std::max(last, metric.column);
    }
    if (last - first > 1u << 16) throw FrameError(fmt::format("{} has more metrics than the tools can show", file.name()));
    // Rows are not in the order of nodes: if those that are needed take little room, they are read at once.
    constexpr std::uint64_t little = 1u << 28;
    const std::uint64_t needed = std::min(rows, experiment.most_rows());
    if (needed < little / (8 * columns)) file.at(0, header + 8 * columns * needed);
    for (const auto& [node, row] : experiment.rows()) {
        if (row >= rows) continue;
        const char* const values = file.at(header + 8 * (columns * row + first), 8 * (last - first + 1));
        for (std::size_t m = 0; m < numbers.size(); ++m) {
            const MetricOfDatabase& metric = experiment.metrics()[m];
            const double value = std::bit_cast<double>(big_endian<std::uint64_t>(values + 8 * (metric.column - first)));
            if (value != 0) builder.value(numbers[m], place, node, value * metric.factor); // rows are dense: 0 is also what was never reached
        }
    }
}

} // namespace

Frame read_hpctoolkit(const fs::path& place) {
    MemoryLimit memory(place);
    const std::string document = file_bytes(place / "experiment.xml", memory);
    Experiment experiment(document, memory);
    std::vector<std::tuple<std::uint32_t, std::uint32_t, fs::path>> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(place)) {
        const std::string name = entry.path().filename().string();
        constexpr std::string_view extension = ".metric-db";
        if (name.size() < extension.size() || name.compare(name.size() - extension.size(), extension.size(), extension) != 0) continue;
        // NAME-RANK-THREAD-HOST-PID-N: from the end, as the name may have '-' itself.
        std::string_view rest = std::string_view(name).substr(0, name.size() - extension.size());
        std::string_view parts[5];
        for (std::string_view& part : parts) {
            const std::size_t dash = rest.rfind('-');
            if (dash == std::string_view::npos) throw FrameError(fmt::format("{} has no rank in its name", name));
            part = rest.substr(dash + 1);
            rest = rest.substr(0, dash);
        }
        files.emplace_back(node_number(parts[4]), node_number(parts[3]), entry.path());
    }
    if (files.empty()) throw FrameError("it has no .metric-db files");
    std::sort(files.begin(), files.end());
    for (const auto& [rank, thread, file] : files) add_matrix(experiment, file, experiment.builder().place(rank, thread));
    return std::move(experiment.builder()).finish();
}

} // namespace libprofile::tools
