// HPCToolkit's databases of version 4: meta.db has metrics, functions and the tree of contexts, profile.db the values of each thread. Source:
// HPCToolkit's doc/FORMATS.md ("meta.db" and "profile.db" version 4.0).
//
// Metrics have values by scope: at the context itself ("point"), or with all below ("execution"), of which the own ones are what is left
// without those of the contexts below. Instructions count for the line or function that they are in.
#include "tools/import/file_bytes.hpp"
#include "tools/import/frame_builder.hpp"
#include "tools/import/hpctoolkit_names.hpp"
#include "tools/import/importers.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace libprofile::tools {

namespace {

/// One of the files: numbers are little-endian, pointers count from its beginning.
class Database {
  public:
    Database(const std::filesystem::path& file, std::string_view format, MemoryLimit& memory)
        : bytes_(file_bytes(file, memory)), name_(file.filename().string()) {
        if (bytes_.compare(0, 10, "HPCTOOLKIT") != 0 || bytes_.compare(10, 4, format) != 0) throw FrameError(fmt::format("{} begins with other words", name_));
        if (const auto major = at<std::uint8_t>(14); major != 4) throw FrameError(fmt::format("{} is of version {}", name_, major));
    }

    template <class Number> Number at(std::uint64_t from) const {
        if (from > bytes_.size() || sizeof(Number) > bytes_.size() - from) throw FrameError(fmt::format("{} ends early", name_));
        Number value;
        std::memcpy(&value, bytes_.data() + from, sizeof value); // x86-64 and AArch64 are little-endian
        return value;
    }
    std::uint64_t pointer(std::uint64_t from) const { return at<std::uint64_t>(from); }
    /// The text that a pointer leads to.
    std::string_view text(std::uint64_t from) const {
        const std::uint64_t begin = pointer(from);
        const std::size_t end = begin < bytes_.size() ? bytes_.find('\0', begin) : std::string::npos;
        if (end == std::string::npos) throw FrameError(fmt::format("{} has a name without an end", name_));
        // Names may share bytes; each once more than the file is long would be a file that was made to fill memory.
        if (texts_.insert(begin).second && (length_ += end - begin) > 4 * bytes_.size()) throw FrameError(fmt::format("{} has names that overlap", name_));
        return std::string_view(bytes_).substr(begin, end - begin);
    }
    /// Where element `i` of an array begins whose elements have `stride` bytes, of which `needed` are read.
    std::uint64_t element(std::uint64_t array, std::uint64_t i, std::uint64_t stride, std::uint64_t needed) const {
        if (stride < needed || array > bytes_.size() || i > bytes_.size() / stride) throw FrameError(fmt::format("{} has a table that is not in it", name_));
        return array + i * stride;
    }
    std::size_t size() const { return bytes_.size(); }

  private:
    std::string bytes_, name_;
    mutable std::unordered_set<std::uint64_t> texts_; // that were asked for
    mutable std::size_t length_ = 0;                  // of these
};

constexpr std::size_t context_bytes = 96;

enum class Scope : std::uint8_t { Point = 1, Execution = 2 };

struct DatabaseMetric {
    std::uint32_t number = 0; // of the builder
    Scope scope = Scope::Point;
    double factor = 1;
};

struct Context {
    std::uint32_t above = 0, node = 0; // context, node of the frame
};

class MetaReader {
  public:
    MetaReader(const std::filesystem::path& file, MemoryLimit memory) : meta_(file, "meta", memory), builder("(program)", memory) {
        add_metrics(meta_.pointer(0x38));
        add_contexts(meta_.pointer(0x48));
        const std::uint64_t names = meta_.pointer(0x28), list = meta_.pointer(names);
        for (std::uint8_t kind = 0; kind < meta_.at<std::uint8_t>(names + 8); ++kind) kinds.emplace_back(meta_.text(list + 8u * kind));
    }

  private:
    const Database meta_;

  public:
    FrameBuilder builder;
    std::unordered_map<std::uint16_t, DatabaseMetric> metrics;   // by the number that values have
    std::vector<Context> contexts = {{0, 0}};                    // the global one first
    std::unordered_map<std::uint32_t, std::uint32_t> context_of; // by ctxId
    std::vector<std::string> kinds;                              // of identifiers

  private:
    void add_metrics(std::uint64_t section) {
        const std::uint64_t list = meta_.pointer(section);
        const auto count = meta_.at<std::uint32_t>(section + 8);
        const auto stride = meta_.at<std::uint8_t>(section + 12), scope_stride = meta_.at<std::uint8_t>(section + 13);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint64_t metric = meta_.element(list, i, stride, 28), scopes = meta_.pointer(metric + 8);
            const std::string_view text = meta_.text(metric);
            std::map<Scope, std::uint16_t> found;
            for (std::uint16_t s = 0; s < meta_.at<std::uint16_t>(metric + 24); ++s) {
                const std::uint64_t instance = meta_.element(scopes, s, scope_stride, 10);
                found.emplace(static_cast<Scope>(meta_.at<std::uint8_t>(meta_.pointer(instance) + 8)), meta_.at<std::uint16_t>(instance + 8));
            }
            const auto chosen = found.count(Scope::Point) != 0 ? found.find(Scope::Point) : found.find(Scope::Execution);
            if (chosen == found.end()) {
                builder.note(fmt::format("the metric {} is left out: it has neither own nor inclusive values", text));
                continue;
            }
            const HpctoolkitMetric name(text, "");
            const bool is_new = names_.insert(name.name).second; // CPUTIME and REALTIME are not one time
            const std::uint32_t number = builder.metric(is_new ? name.name : std::string(text), name.is_time ? "ns" : "");
            metrics[chosen->second] = {number, chosen->first, name.factor};
        }
        if (metrics.empty()) throw FrameError("it has no metrics");
    }

    struct Siblings {
        std::uint64_t begin, end;
        std::uint32_t above; // context
    };

    void add_contexts(std::uint64_t section) {
        const std::uint64_t list = meta_.pointer(section);
        const auto stride = meta_.at<std::uint8_t>(section + 10);
        std::vector<Siblings> open;
        for (std::uint16_t i = 0; i < meta_.at<std::uint16_t>(section + 8); ++i) {
            const std::uint64_t entry = meta_.element(list, i, stride, 32);
            const std::uint32_t node = builder.add(0, {meta_.text(entry + 24), "other"});
            open_children(entry, add_context(meta_.at<std::uint32_t>(entry + 16), 0, node), open);
        }
        while (!open.empty()) {
            Siblings& next = open.back();
            if (next.begin >= next.end) {
                open.pop_back();
                continue;
            }
            const std::uint64_t context = next.begin;
            next.begin += 32 + 8u * meta_.at<std::uint8_t>(context + 23);
            open_children(context, add_context(meta_.at<std::uint32_t>(context + 16), next.above, node_of(context, contexts[next.above].node)), open);
        }
    }

    /// A number is there once: so contexts that lead back to themselves are found.
    std::uint32_t add_context(std::uint32_t id, std::uint32_t above, std::uint32_t node) {
        const auto number = static_cast<std::uint32_t>(contexts.size());
        if (id == 0 || !context_of.try_emplace(id, number).second) throw FrameError(fmt::format("the context {} is there twice", id));
        builder.memory().take(context_bytes);
        contexts.push_back({above, node});
        return number;
    }

    void open_children(std::uint64_t context, std::uint32_t number, std::vector<Siblings>& open) const {
        const std::uint64_t size = meta_.pointer(context), begin = meta_.pointer(context + 8);
        if (size == 0) return;
        if (begin > meta_.size() || size > meta_.size() - begin) throw FrameError("contexts are outside of the file");
        open.push_back({begin, begin + size, number});
    }

    /// The optional fields of a context, in their order: pointers take a word, the numbers of lines half of one.
    struct Fields {
        std::uint64_t function = 0, file = 0;
        std::uint32_t line = 0;
    };
    Fields fields_of(std::uint64_t context) const {
        constexpr unsigned has_function = 1, has_line = 2;
        const unsigned flags = meta_.at<std::uint8_t>(context + 20);
        const std::uint64_t end = context + 32 + 8u * meta_.at<std::uint8_t>(context + 23);
        std::uint64_t at = context + 32;
        const auto take = [&] {
            if (at + 8 > end) throw FrameError("a context ends early");
            at += 8;
            return at - 8;
        };
        Fields fields;
        if ((flags & has_function) != 0) fields.function = meta_.pointer(take());
        if ((flags & has_line) != 0) {
            fields.file = meta_.pointer(take());
            fields.line = meta_.at<std::uint32_t>(take());
        }
        return fields;
    }

    /// The path of a file or module; empty without a pointer.
    std::string_view path(std::uint64_t specification) const {
        return specification == 0 ? std::string_view() : known_to_hpctoolkit(meta_.text(specification + 8));
    }

    std::uint32_t node_of(std::uint64_t context, std::uint32_t parent) {
        enum Lexical : std::uint8_t { Function, Loop, Line };
        const auto type = meta_.at<std::uint8_t>(context + 22);
        const Fields fields = fields_of(context);
        if (type == Function) {
            constexpr std::uint8_t inlined = 2;
            const char* const kind = meta_.at<std::uint8_t>(context + 21) == inlined ? "inlined" : "function";
            if (fields.function == 0) return builder.add(parent, {"(unknown function)", kind});
            const std::uint64_t module = meta_.pointer(fields.function + 8), file = meta_.pointer(fields.function + 24);
            const std::string name = meta_.pointer(fields.function) != 0 ? std::string(meta_.text(fields.function))
                                     : module != 0 ? fmt::format("{}: function at {:#x}", base(path(module)), meta_.pointer(fields.function + 16))
                                                   : fmt::format("{}: function", base(path(file)));
            return builder.add(parent, {name, kind, path(file), path(module), meta_.at<std::uint32_t>(fields.function + 32)});
        }
        if (type != Loop && type != Line) return parent;
        constexpr std::size_t longest = 256; // such a name is made for each line
        const std::string_view file = base(path(fields.file));
        const std::string name = fmt::format("{} {}:{}", type == Loop ? "loop at" : "line", file.substr(0, longest), fields.line);
        return builder.add(parent, {name, type == Loop ? "loop" : "statement", path(fields.file), "", fields.line});
    }

    static std::string_view base(std::string_view path) { return path.substr(path.rfind('/') + 1); }

    std::set<std::string> names_; // of metrics
};

class ProfileReader {
  public:
    ProfileReader(const std::filesystem::path& file, MetaReader& meta)
        : profile_(file, "prof", meta.builder.memory()), meta_(meta), own_(meta.contexts.size()) {
        const std::uint64_t section = profile_.pointer(0x18), list = profile_.pointer(section);
        const auto count = profile_.at<std::uint32_t>(section + 8);
        const auto stride = profile_.at<std::uint8_t>(section + 12);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint64_t info = profile_.element(list, i, stride, 44);
            constexpr std::uint32_t is_summary = 1;
            if ((profile_.at<std::uint32_t>(info + 40) & is_summary) == 0) add_profile(info, place_of(profile_.pointer(info + 32)));
        }
        if (has_streams_) meta_.builder.note("streams of GPUs are threads from 500 on");
    }

  private:
    std::uint32_t place_of(std::uint64_t tuple) {
        std::uint32_t rank = 0, thread = 0;
        std::string host;
        bool is_stream = false;
        for (std::uint16_t i = 0; i < profile_.at<std::uint16_t>(tuple); ++i) {
            const std::uint64_t id = tuple + 8 + 16u * i;
            const auto kind = profile_.at<std::uint8_t>(id);
            const std::string_view name = kind < meta_.kinds.size() ? std::string_view(meta_.kinds[kind]) : std::string_view();
            const auto number = profile_.at<std::uint32_t>(id + 4);
            if (name == "RANK") rank = number;
            if (name == "THREAD") thread = number;
            if (name == "NODE") host = fmt::format("{:x}", profile_.at<std::uint64_t>(id + 8));
            is_stream |= name.substr(0, 3) == "GPU";
        }
        if (is_stream) {
            has_streams_ = true;
            thread = 500 + streams_[rank]++;
        }
        return meta_.builder.place(rank, thread, host);
    }

    void add_profile(std::uint64_t block, std::uint32_t place) {
        const std::uint64_t count = profile_.pointer(block), values = profile_.pointer(block + 8), indices = profile_.pointer(block + 24);
        const auto contexts = profile_.at<std::uint32_t>(block + 16);
        constexpr std::uint64_t value_size = 10, index_size = 12;
        bytes_ += index_size * contexts;
        std::map<std::uint16_t, std::vector<std::pair<std::uint32_t, double>>> inclusive; // by metric: contexts and values
        for (std::uint32_t i = 0; i < contexts; ++i) {
            const std::uint64_t index = profile_.element(indices, i, index_size, index_size);
            const auto id = profile_.at<std::uint32_t>(index);
            const auto begin = profile_.at<std::uint64_t>(index + 4);
            const std::uint64_t end = i + 1 < contexts ? profile_.at<std::uint64_t>(profile_.element(indices, i + 1, index_size, index_size) + 4) : count;
            if (begin > end || end > count) throw FrameError("values are not in order");
            if ((bytes_ += value_size * (end - begin)) > profile_.size()) throw FrameError("threads have values at the same place");
            if (id == 0) continue; // sums over all contexts
            const auto context = meta_.context_of.find(id);
            if (context == meta_.context_of.end()) throw FrameError(fmt::format("values are of the context {}, which is not there", id));
            for (std::uint64_t v = begin; v < end; ++v) {
                const std::uint64_t value = profile_.element(values, v, value_size, value_size);
                const auto metric = meta_.metrics.find(profile_.at<std::uint16_t>(value));
                if (metric == meta_.metrics.end()) continue; // of another scope
                const double number = std::bit_cast<double>(profile_.at<std::uint64_t>(value + 2)) * metric->second.factor;
                if (!std::isfinite(number)) throw FrameError("a value is no number");
                if (metric->second.scope == Scope::Point)
                    meta_.builder.value(metric->second.number, place, meta_.contexts[context->second].node, number);
                else
                    inclusive[metric->first].emplace_back(context->second, number);
            }
        }
        for (const auto& [metric, list] : inclusive) add_own(meta_.metrics[metric].number, place, list);
    }

    /// What is left of inclusive values without those below.
    void add_own(std::uint32_t metric, std::uint32_t place, const std::vector<std::pair<std::uint32_t, double>>& inclusive) {
        for (const auto& [context, value] : inclusive) {
            own_[context] += value;
            own_[meta_.contexts[context].above] -= value;
        }
        constexpr double rounding = 1e-9; // of sums of doubles
        for (const auto& [context, value] : inclusive)
            if (std::abs(own_[context]) > rounding * std::abs(value)) meta_.builder.value(metric, place, meta_.contexts[context].node, own_[context]);
        for (const auto& [context, value] : inclusive) own_[context] = own_[meta_.contexts[context].above] = 0;
    }

    const Database profile_;
    MetaReader& meta_;
    std::vector<double> own_;                        // by context; 0 between two metrics
    std::map<std::uint32_t, std::uint32_t> streams_; // by rank
    bool has_streams_ = false;
    std::uint64_t bytes_ = 0; // of values and indices that were read
};

} // namespace

Frame read_hpctoolkit_4(const std::filesystem::path& place) {
    MetaReader meta(place / "meta.db", MemoryLimit(place));
    ProfileReader(place / "profile.db", meta);
    return std::move(meta.builder).finish();
}

} // namespace libprofile::tools
