// pprof's profile.proto, gzipped (https://github.com/google/pprof/blob/main/proto/profile.proto): several metrics in one file, ranks
// and threads as labels, files and lines of the frames.
#include "tools/export/formats.hpp"
#include "tools/export/proto_message.hpp"
#include "tools/export/stacks.hpp"

#include "tools/names/labels.hpp"

#include <fmt/format.h>
#include <map>
#include <tuple>
#include <zlib.h>

namespace libprofile::tools {

namespace {

class Strings {
  public:
    Strings() { (*this)[""]; }
    std::uint64_t operator[](const std::string& text) {
        const auto [entry, is_new] = numbers_.try_emplace(printable(text), list_.size());
        if (is_new) list_.push_back(entry->first);
        return entry->second;
    }
    const std::vector<std::string>& list() const { return list_; }

  private:
    std::map<std::string, std::uint64_t> numbers_;
    std::vector<std::string> list_;
};

std::string gzip(const std::string& bytes) {
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw ExportError("zlib cannot compress here; choose another format");
    std::string out;
    char room[1 << 16];
    std::size_t at = 0;
    int state = Z_OK;
    while (state == Z_OK) {
        const std::size_t part = std::min<std::size_t>(bytes.size() - at, 1u << 30); // zlib counts in 32 bits
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + at));
        stream.avail_in = static_cast<uInt>(part);
        stream.next_out = reinterpret_cast<Bytef*>(room);
        stream.avail_out = sizeof room;
        state = deflate(&stream, at + part == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
        at += part - stream.avail_in;
        out.append(room, sizeof room - stream.avail_out);
    }
    deflateEnd(&stream);
    if (state != Z_STREAM_END) throw ExportError("zlib cannot compress this profile; choose another format");
    return out;
}

class Encoder {
  public:
    explicit Encoder(const CallTable& table) : table_(table), location_(table.nodes.size()) {}

    std::string encode(const Profile& profile) {
        for (const MetricRow& row : table_.metrics) {
            ProtoMessage type;
            type.number(1, strings_[row.name]);
            type.number(2, strings_[row.unit == "ns" ? "nanoseconds" : row.unit]);
            out_.message(1, type);
        }
        for (std::size_t p = 0; p < table_.locations.size(); ++p) add_samples(p);
        out_.number(9, profile.job.start_unix_ns);
        std::uint64_t wall = 0;
        for (const Location& location : profile.locations) wall = std::max(wall, location.wall_ns);
        out_.number(10, wall);
        out_.number(13, strings_["libprofile " + profile.job.version + ": " + profile.job.command]);
        if (!table_.scope.empty())
            out_.number(13, strings_[table_.scope + (table_.estimated ? " (partly estimated)" : "")]);
        else if (table_.estimated)
            out_.number(13, strings_["partly estimated"]);
        out_.number(14, strings_[table_.metrics[0].name]);
        for (const std::string& text : strings_.list()) out_.text(6, text);
        return gzip(out_.serialized());
    }

  private:
    void add_samples(std::size_t thread) {
        const std::vector<CallTable::Value>& values = table_.values[thread];
        for (std::size_t v = 0; v < values.size();) {
            const std::uint32_t node = values[v].node;
            std::vector<std::uint64_t> by_metric(table_.metrics.size()), locations;
            for (; v < values.size() && values[v].node == node; ++v) by_metric[values[v].metric] += values[v].value;
            if (node == 0) locations.push_back(location(0));
            for (std::uint32_t n = node; n != 0; n = table_.nodes[n].parent) // innermost first
                locations.push_back(location(n));
            ProtoMessage sample;
            sample.numbers(1, locations);
            sample.numbers(2, by_metric);
            label(sample, "rank", table_.locations[thread].rank);
            label(sample, "thread", table_.locations[thread].thread);
            ProtoMessage host;
            host.number(1, strings_["host"]);
            host.number(2, strings_[table_.locations[thread].host]);
            sample.message(3, host);
            out_.message(2, sample);
        }
    }

    /// The unit is the one that pprof assumes of a label without: one that is 0 and has none is no label to pprof.
    void label(ProtoMessage& sample, const char* key, std::uint64_t value) {
        ProtoMessage label;
        label.number(1, strings_[key]);
        label.number(3, value);
        label.number(4, strings_[key]);
        sample.message(3, label);
    }

    std::uint64_t location(std::uint32_t node) {
        if (location_[node] != 0) return location_[node];
        const CallTable::Node& n = table_.nodes[node];
        const std::string name = node == 0 ? "(no call path)" : n.name;
        const auto [function, new_function] = functions_.try_emplace({name, n.file}, functions_.size() + 1);
        if (new_function) {
            ProtoMessage message;
            message.number(1, function->second);
            message.number(2, strings_[name]);
            message.number(3, strings_[name]);
            message.number(4, strings_[n.file]);
            out_.message(5, message);
        }
        const auto [mapping, new_mapping] = mappings_.try_emplace(n.module, mappings_.size() + 1);
        if (new_mapping) {
            ProtoMessage message;
            message.number(1, mapping->second);
            message.number(5, strings_[n.module]);
            for (const unsigned known : {7u, 8u, 9u}) // functions, files, lines
                message.number(known, 1);
            out_.message(3, message);
        }
        const auto [entry, is_new] = locations_.try_emplace({mapping->second, function->second, n.line}, locations_.size() + 1);
        if (is_new) {
            ProtoMessage line, message;
            line.number(1, function->second);
            line.number(2, n.line);
            message.number(1, entry->second);
            message.number(2, mapping->second);
            message.message(4, line);
            out_.message(4, message);
        }
        return location_[node] = entry->second;
    }

    const CallTable& table_;
    ProtoMessage out_;
    Strings strings_;
    std::vector<std::uint64_t> location_; // by node
    std::map<std::pair<std::string, std::string>, std::uint64_t> functions_;
    std::map<std::string, std::uint64_t> mappings_;
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::uint64_t> locations_;
};

} // namespace

Remarks write_pprof(const Profile& profile, const ExportRequest& request, Sink& sink) {
    TableChoice choice = request.choice;
    choice.by_line = true; // pprof itself sums by function or by line
    const CallTable table = make_stack_table(profile, choice, true);
    sink.add("profile.pb.gz", Encoder(table).encode(profile));
    return untold_remarks(table);
}

} // namespace libprofile::tools
