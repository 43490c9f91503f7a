// Cube 4 (.cubex): a tar file of anchor.xml and, for each metric, an index of rows and a matrix of values. Source: docs/cube_file_format.md of
// pyCubexR (BSD), and the Cube library's documentation.
//
// Rows are nodes in pre-order for exclusive metrics, and in the order "all children, then below each of them" for inclusive ones.
#include "tools/import/file_bytes.hpp"
#include "tools/import/frame_builder.hpp"
#include "tools/import/importers.hpp"
#include "tools/import/xml_file.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace libprofile::tools {

namespace {

/// Files of a tar file, as views of it.
std::map<std::string, std::string_view> files_of(std::string_view tar) {
    std::map<std::string, std::string_view> files;
    for (std::size_t at = 0; at + 512 <= tar.size() && tar[at] != '\0';) {
        const std::string_view header = tar.substr(at, 512);
        const auto field = [&](std::size_t from, std::size_t size) {
            const std::string_view all = header.substr(from, size);
            return std::string(all.substr(0, all.find('\0')));
        };
        std::uint64_t size = 0;
        for (const char c : field(124, 12))
            if (c >= '0' && c <= '7') size = size << 3 | static_cast<std::uint64_t>(c - '0');
        if (size > tar.size() - at - 512) throw FrameError("it ends early");
        std::string name = field(0, 100);
        if (name.substr(0, 2) == "./") name = name.substr(2);
        files[name] = tar.substr(at + 512, size);
        at += 512 + (size + 511) / 512 * 512;
    }
    return files;
}

struct CubeMetric {
    std::uint32_t id = 0;
    std::string name, unit, type;
    bool is_inclusive = false;
};
struct CubeRegion {
    std::string name, file, role;
    std::uint32_t line = 0;
};
struct CubeNode {
    std::uint32_t id = 0, region = 0, node = 0;
    std::vector<std::uint32_t> children; // places in the list of nodes
};
struct CubePlace {
    std::uint32_t id = 0, rank = 0, thread = 0;
    std::string host;
};

std::uint32_t cube_number(std::string_view text) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(whole_number_in(text), 0xffffffffu)); }

constexpr std::size_t cube_element_bytes = 192; // bytes that are kept of one, about

class Anchor {
  public:
    Anchor(std::string_view document, const MemoryLimit& memory) : builder("(program)", memory) {
        read_xml(document, {[this](std::string_view e, const XmlAttributes& a) { begin(e, a); }, [this](std::string_view e) { end(e); },
                            [this](std::string_view text) { text_ += text; }});
        if (roots.empty()) throw FrameError("it has no call tree");
    }

    FrameBuilder builder;
    std::vector<CubeMetric> metrics;
    std::vector<CubeNode> nodes;
    std::vector<std::uint32_t> roots;
    std::vector<CubePlace> places;

  private:
    void begin(std::string_view element, const XmlAttributes& a) {
        text_.clear();
        builder.memory().take(cube_element_bytes);
        if (element == "metric") {
            CubeMetric& metric = metrics.emplace_back();
            metric.id = cube_number(a["id"]);
            metric.is_inclusive = a["type"] == "INCLUSIVE";
            in_metric_ = true;
        } else if (element == "region") {
            CubeRegion& region = regions_[region_ = cube_number(a["id"])];
            region.file = a["mod"];
            if (const std::string_view line = a["begin"]; !line.empty() && line[0] != '-') region.line = cube_number(line);
            in_region_ = true;
        } else if (element == "cnode") {
            const auto callee = regions_.find(cube_number(a["calleeId"]));
            if (callee == regions_.end()) throw FrameError("a call has no function");
            const CubeRegion& region = callee->second;
            const auto at = static_cast<std::uint32_t>(nodes.size());
            const std::uint32_t parent = open_.empty() ? 0 : nodes[open_.back()].node;
            const bool is_mpi = region.role == "mpi" || region.name.substr(0, 4) == "MPI_";
            nodes.push_back(
                {cube_number(a["id"]), callee->first, builder.add(parent, {region.name, is_mpi ? "mpi" : "function", region.file, "", region.line}), {}});
            (open_.empty() ? roots : nodes[open_.back()].children).push_back(at);
            open_.push_back(at);
        } else if (element == "systemtreenode") {
            hosts_.emplace_back();
        } else if (element == "locationgroup") {
            in_group_ = true;
            group_rank_ = cube_number(a["Id"]);
        } else if (element == "location") {
            in_location_ = true;
            places.push_back({cube_number(a["Id"]), group_rank_, 0, hosts_.empty() ? "" : hosts_.back()});
        }
    }

    void end(std::string_view element) {
        if (in_metric_) {
            CubeMetric& metric = metrics.back();
            if (element == "uniq_name") metric.name = text_;
            if (element == "dtype") metric.type = text_;
            if (element == "uom") metric.unit = text_;
            if (element == "metric") in_metric_ = false; // Cube nests metrics: the outer one's texts come before the inner
        } else if (in_region_) {
            CubeRegion& region = regions_[region_];
            if (element == "name") region.name = text_;
            if (element == "role") region.role = text_;
            if (element == "region") in_region_ = false;
        } else if (element == "cnode" && !open_.empty()) {
            open_.pop_back();
        } else if (element == "rank" && in_location_) {
            places.back().thread = cube_number(text_);
        } else if (element == "rank" && in_group_) {
            group_rank_ = cube_number(text_);
        } else if (element == "name" && !in_group_ && !hosts_.empty() && hosts_.back().empty()) {
            hosts_.back() = text_;
        } else if (element == "location") {
            in_location_ = false;
        } else if (element == "locationgroup") {
            in_group_ = false;
        } else if (element == "systemtreenode" && !hosts_.empty()) {
            hosts_.pop_back();
        }
    }

    std::string text_;
    std::map<std::uint32_t, CubeRegion> regions_;
    std::vector<std::uint32_t> open_;
    std::vector<std::string> hosts_;
    std::uint32_t region_ = 0, group_rank_ = 0;
    bool in_metric_ = false, in_region_ = false, in_group_ = false, in_location_ = false;
};

template <class Number> Number little_endian(std::string_view bytes, std::size_t at) {
    if (at > bytes.size() || sizeof(Number) > bytes.size() - at) throw FrameError("values end early");
    Number value;
    std::memcpy(&value, bytes.data() + at, sizeof value); // x86-64 and AArch64 are little-endian, as nearly all such files
    return value;
}

/// The matrix, unpacked if it is packed.
/// @param needed bytes
std::string cube_values(std::string_view data, std::size_t needed) {
    constexpr std::string_view plain = "CUBEX.DATA", packed = "ZCUBEX.DATA";
    if (data.substr(0, plain.size()) == plain) return std::string(data.substr(plain.size()));
    if (data.substr(0, packed.size()) != packed) throw FrameError("values begin with no known word");
    const auto count = little_endian<std::uint64_t>(data, packed.size());
    const std::size_t table = packed.size() + 8;
    if (count > (data.size() - table) / 24) throw FrameError("values end early");
    const std::string_view blocks = data.substr(table + 24 * count);
    std::string values;
    std::size_t end = 0;
    for (std::uint64_t b = 0; b < count && values.size() < needed; ++b) {
        const auto from = little_endian<std::uint64_t>(data, table + 24 * b), at = little_endian<std::uint64_t>(data, table + 24 * b + 8),
                   size = little_endian<std::uint64_t>(data, table + 24 * b + 16);
        if (from != values.size() || at < end || at > blocks.size() || size > blocks.size() - at) throw FrameError("packed values do not follow each other");
        end = at + size;
        values += inflated(blocks.substr(at, size), needed - values.size());
    }
    return values;
}

std::vector<std::uint32_t> pre_order(const Anchor& anchor) {
    std::vector<std::uint32_t> order, open(anchor.roots.rbegin(), anchor.roots.rend());
    while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        order.push_back(at);
        open.insert(open.end(), anchor.nodes[at].children.rbegin(), anchor.nodes[at].children.rend());
    }
    return order;
}

/// All children of a node one after another, then below each of them.
std::vector<std::uint32_t> wide_order(const Anchor& anchor) {
    std::vector<std::uint32_t> order = anchor.roots, open(anchor.roots.rbegin(), anchor.roots.rend());
    while (!open.empty()) {
        const std::vector<std::uint32_t>& children = anchor.nodes[open.back()].children;
        open.pop_back();
        order.insert(order.end(), children.begin(), children.end());
        open.insert(open.end(), children.rbegin(), children.rend());
    }
    return order;
}

struct CubeType {
    std::size_t size;
    double (*value)(std::string_view, std::size_t);
};
template <class Number> constexpr CubeType type_of() {
    return {sizeof(Number), [](std::string_view bytes, std::size_t at) { return static_cast<double>(little_endian<Number>(bytes, at)); }};
}
std::optional<CubeType> type_named(const std::string& name) {
    if (name == "DOUBLE") return type_of<double>();
    if (name == "UINT64" || name == "INTEGER" || name == "UINT64_T") return type_of<std::uint64_t>();
    if (name == "INT64") return type_of<std::int64_t>();
    if (name == "UINT32") return type_of<std::uint32_t>();
    if (name == "INT32") return type_of<std::int32_t>();
    if (name == "UINT16") return type_of<std::uint16_t>();
    if (name == "INT16") return type_of<std::int16_t>();
    if (name == "UINT8") return type_of<std::uint8_t>();
    if (name == "INT8") return type_of<std::int8_t>();
    return {};
}

} // namespace

Frame read_cubex(const std::filesystem::path& place) {
    MemoryLimit memory(place);
    const std::string bytes = file_bytes(place, memory);
    const auto files = files_of(bytes);
    const auto found = files.find("anchor.xml");
    if (found == files.end()) throw FrameError("it has no anchor.xml");
    Anchor anchor(found->second, memory);
    std::sort(anchor.places.begin(), anchor.places.end(), [](const CubePlace& a, const CubePlace& b) { return a.id < b.id; });
    std::vector<std::uint32_t> places;
    for (const CubePlace& one : anchor.places) places.push_back(anchor.builder.place(one.rank, one.thread, one.host));
    const std::vector<std::uint32_t> deep = pre_order(anchor), wide = wide_order(anchor);
    for (const CubeMetric& metric : anchor.metrics) {
        const auto index = files.find(fmt::format("{}.index", metric.id)), data = files.find(fmt::format("{}.data", metric.id));
        if (index == files.end() || data == files.end()) continue; // a metric that only groups others
        const std::optional<CubeType> type = type_named(metric.type);
        if (!type) {
            anchor.builder.note(fmt::format("the metric {} is left out: its values are {}", metric.name, metric.type));
            continue;
        }
        constexpr std::string_view word = "CUBEX.INDEX";
        const std::string_view rows = index->second;
        if (rows.substr(0, word.size()) != word) throw FrameError("an index begins with no known word");
        if (little_endian<std::uint32_t>(rows, word.size()) != 1) throw FrameError("it was written on a big-endian machine");
        const bool is_dense = little_endian<std::uint8_t>(rows, word.size() + 6) == 0;
        const std::size_t count = is_dense ? anchor.nodes.size() : little_endian<std::uint32_t>(rows, word.size() + 7);
        const std::size_t needed = count <= anchor.nodes.size() ? count * places.size() * type->size : 0;
        const std::string values = cube_values(data->second, needed);
        anchor.builder.memory().unpacked(values.size());
        if (places.empty() || needed == 0 || values.size() < needed) throw FrameError("values end early");
        const bool is_time = metric.unit == "sec";
        const std::uint32_t to = anchor.builder.metric(metric.name, is_time ? "ns" : metric.unit == "occ" ? "count" : metric.unit);
        if (metric.is_inclusive) anchor.builder.make_exclusive(to);
        const std::vector<std::uint32_t>& order = metric.is_inclusive ? wide : deep;
        for (std::size_t row = 0; row < count; ++row) {
            const std::size_t id = is_dense ? row : little_endian<std::uint32_t>(rows, word.size() + 11 + 4 * row);
            if (id >= order.size()) throw FrameError("a row is of no node");
            const std::uint32_t node = anchor.nodes[order[id]].node;
            for (std::size_t p = 0; p < places.size(); ++p) {
                const double value = type->value(values, (row * places.size() + p) * type->size);
                if (value != 0) anchor.builder.value(to, places[p], node, is_time ? value * 1e9 : value); // rows are dense: 0 is also absent
            }
        }
    }
    return std::move(anchor.builder).finish();
}

} // namespace libprofile::tools
