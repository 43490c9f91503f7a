#include "tools/reader/journal.hpp"

#include "format/journal.hpp"
#include "tools/reader/decode_tables.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <mutex>

namespace libprofile::tools {

std::optional<Bytes> JournalScanner::next() {
    JournalRecordHeader header{};
    if (journal_.size() - at_ < sizeof header) return std::nullopt;
    std::memcpy(&header, journal_.data() + at_, sizeof header);
    const std::size_t room = journal_.size() - at_ - sizeof header;
    if (header.mark != journal_mark || padded_to_8(header.size) > room) return std::nullopt;
    const Bytes payload = journal_.subspan(at_ + sizeof header, header.size);
    if (journal_check(payload.data(), payload.size(), sequence_) != header.check) return std::nullopt;
    ++sequence_;
    at_ += sizeof header + padded_to_8(header.size);
    return payload;
}

namespace {

constexpr std::uint64_t most_phases = 1000;                                                    // as in the runtime; each takes memory
constexpr std::uint64_t most_value = std::uint64_t{1} << 62;                                   // of all cells of a record together: no sum overflows
constexpr std::uint64_t most_nodes = std::uint64_t{1} << (32 - libprofile::Cell::metric_bits); // that fit into a key

/// Bytes for the iterations of a journal.
std::uint64_t memory_for(std::uint64_t journal_bytes) {
    constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
    return std::min(64 * mebi + std::min(journal_bytes, 1024 * mebi) * 128, 1024 * mebi);
}

using Cells = std::vector<libprofile::Cell>;

/// One rank while its journal is applied. A record is checked as a whole before it changes anything.
class Application {
  public:
    Application(RawRank& rank, const KeptSettings& settings) : rank_(rank), settings_(settings) {}

    /// Returns false if the journal does not fit the rank.
    bool begin(Bytes journal);
    /// The next record. Returns false if nothing can follow.
    bool take(Bytes record);
    /// Returns false if a record never fitted.
    bool finish();

  private:
    struct OpenPhase {
        std::size_t index = 0; // in rank_.phases
        std::unique_ptr<KeptIterations> kept;
        std::uint64_t iterations_ns = 0; // inclusive
        std::vector<std::uint64_t> begins = {};
    };

    PhaseData& data(const OpenPhase& phase) { return rank_.phases[phase.index].data; }
    bool apply(Bytes record);
    bool define(Decoder d);
    bool apply_iteration(Decoder d, Bytes record);
    bool apply_phase(Decoder d, Bytes record);
    bool put_back(Decoder d);
    void count_iterations(Bytes journal);
    bool is_not_sampled_time(const libprofile::Cell& cell) const;
    bool read_cells(const Decoder& d, Bytes record, std::uint64_t count, Cells& cells) const;
    bool read_nodes(Decoder& d, std::vector<NodeRecord>& nodes, const std::map<std::uint64_t, Function>& functions, std::size_t modules) const;
    void note_node(const NodeRecord& node);
    std::uint32_t node_of_kind(NodeKind kind);
    void replace_rest(PhaseData& data, const Cells& cells);
    void keep_series(OpenPhase& phase, std::uint64_t iterations_before);
    void keep_begins(OpenPhase& phase, std::uint64_t iterations_before);
    void prolong_loops(std::uint64_t wall_before);

    RawRank& rank_;
    KeptSettings settings_;
    RawTree* tree_ = nullptr;
    LocationRecord* location_ = nullptr;
    std::vector<OpenPhase> phases_;
    std::vector<TimeCategory> categories_; // by node
    std::vector<bool> is_event_;
    std::map<NodeKind, std::uint32_t> below_root_;      // the first node of each kind there
    std::map<std::uint64_t, std::uint64_t> iterations_; // of the journal, by phase
    std::vector<Bytes> waiting_;
    std::uint64_t wall_ns_ = 0;
    std::uint64_t samples_taken_ = 0;
    std::uint64_t samples_lost_ = 0;
};

std::uint64_t time_in(const std::vector<Cell>& cells) {
    std::uint64_t sum = 0;
    for (const Cell& cell : cells) sum += cell.metric == 0 ? cell.value : 0;
    return sum;
}

std::vector<Cell> model_cells(const Cells& cells) {
    std::vector<Cell> result;
    result.reserve(cells.size());
    for (const libprofile::Cell& cell : cells) result.push_back({cell.node(), cell.metric(), cell.value});
    return result;
}

void Application::note_node(const NodeRecord& node) {
    const auto kind = static_cast<NodeKind>(node.kind);
    const auto number = static_cast<std::uint32_t>(categories_.size());
    if (node.parent_distance == number) below_root_.emplace(kind, number);
    TimeCategory category = TimeCategory::Compute;
    if (kind == NodeKind::Overhead)
        category = TimeCategory::Overhead;
    else if (kind == NodeKind::OffCpu)
        category = TimeCategory::OffCpu;
    else if (kind == NodeKind::NotRecorded)
        category = TimeCategory::NotRecorded;
    else if (is_call(kind))
        if (const auto at = rank_.tables.functions->find(node.a); at != rank_.tables.functions->end()) category = at->second.category;
    categories_.push_back(category);
    is_event_.push_back(counts_for_structure(kind));
}

/// For each phase; some may come after a record that does not fit.
void Application::count_iterations(Bytes journal) {
    JournalScanner scanner(journal);
    while (const std::optional<Bytes> record = scanner.next()) {
        Decoder d(record->data(), record->size());
        std::uint64_t kind = 0, phase = 0;
        d.number(kind);
        d.number(phase);
        if (!d.failed() && kind == static_cast<std::uint64_t>(JournalRecord::Iteration) && phase < most_phases) ++iterations_[phase];
    }
}

bool Application::begin(Bytes journal) {
    count_iterations(journal);
    const auto tree = rank_.tables.trees.find(0);
    const auto location = rank_.locations.find(0);
    if (tree == rank_.tables.trees.end() || location == rank_.locations.end() || location->second.paths_in != static_cast<std::uint64_t>(PathsIn::OwnTree) ||
        !rank_.tables.modules || !rank_.tables.functions || !rank_.info || !rank_.info->checkpoint || tree->second.nodes.size() >= most_nodes)
        return false;
    tree_ = &tree->second;
    location_ = &location->second;
    wall_ns_ = location_->wall_ns;
    categories_.push_back(TimeCategory::Compute);
    is_event_.push_back(false);
    for (const NodeRecord& node : tree_->nodes) note_node(node);
    for (std::size_t i = 0; i < rank_.phases.size(); ++i) {
        if (rank_.phases[i].thread != 0) continue;
        if (rank_.phases[i].number != phases_.size()) return false; // a block was lost, so that the journal's numbers mean others
        for (const Cell& cell : rank_.phases[i].data.rest)
            if (cell.path > tree_->nodes.size() || cell.metric >= metric_count + settings_.counter_metrics) return false;
        phases_.push_back({i, nullptr});
    }
    return !phases_.empty() && rank_.phases[phases_[0].index].kind == PhaseKind::Outside;
}

bool Application::read_nodes(Decoder& d, std::vector<NodeRecord>& nodes, const std::map<std::uint64_t, Function>& functions, std::size_t modules) const {
    std::uint64_t first = 0, count = 0;
    d.number(first);
    d.number(count);
    if (d.failed() || first != tree_->nodes.size() + 1 || count > d.remaining() / 4 || first + count >= most_nodes) return false;
    for (std::uint64_t i = 0; i < count; ++i) {
        NodeRecord& node = nodes.emplace_back();
        describe(d, node);
        const auto kind = static_cast<NodeKind>(node.kind);
        if (d.failed() || node.parent_distance == 0 || node.parent_distance > first + i || !is_stored_kind(node.kind)) return false;
        if ((is_in_module(kind) && node.a >= modules) || (is_call(kind) && !functions.contains(node.a) && !rank_.tables.functions->contains(node.a)))
            return false;
    }
    return true;
}

bool Application::define(Decoder d) {
    std::uint64_t first = 0, count = 0;
    d.number(first);
    d.number(count);
    if (d.failed() || first != phases_.size() || count > d.remaining() / 2 || first + count > most_phases) return false;
    std::vector<RawPhase> phases;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t kind = 0;
        Text name;
        d.number(kind);
        d.text(name);
        if (d.failed() || kind == 0 || kind > static_cast<std::uint64_t>(PhaseKind::Iterations)) return false;
        RawPhase& phase = phases.emplace_back();
        phase.number = static_cast<std::uint32_t>(first + i);
        phase.name.assign(name.data, name.size);
        phase.kind = static_cast<PhaseKind>(kind);
    }
    d.number(first);
    d.number(count);
    if (d.failed() || first > rank_.tables.modules->size() || count > d.remaining() / 2) return false;
    std::vector<Module> modules;
    for (std::uint64_t i = 0; i < count; ++i) {
        ModuleRecord r;
        describe(d, r);
        if (first + i >= rank_.tables.modules->size()) // others the snapshot has already
            modules.push_back({std::string(r.build_id.data, r.build_id.size), std::string(r.path.data, r.path.size)});
    }
    std::map<std::uint64_t, Function> functions;
    if (!read_functions(d, functions)) return false;
    std::vector<NodeRecord> nodes;
    if (!read_nodes(d, nodes, functions, rank_.tables.modules->size() + modules.size()) || d.remaining() != 0) return false;
    for (RawPhase& phase : phases) {
        rank_.phases.push_back(std::move(phase));
        phases_.push_back({rank_.phases.size() - 1, nullptr});
    }
    rank_.tables.modules->insert(rank_.tables.modules->end(), modules.begin(), modules.end());
    rank_.tables.functions->merge(functions);
    for (const NodeRecord& node : nodes) {
        tree_->nodes.push_back(node);
        note_node(node);
    }
    return true;
}

bool Application::is_not_sampled_time(const libprofile::Cell& cell) const {
    const auto at = below_root_.find(NodeKind::NotSampled);
    return at != below_root_.end() && cell.key == libprofile::Cell::make_key(at->second, 0);
}

/// The cells that fill the rest of a record, sorted.
bool Application::read_cells(const Decoder& d, Bytes record, std::uint64_t count, Cells& cells) const {
    if (d.failed() || count > d.remaining()) return false;
    std::size_t left = d.remaining();
    const unsigned char* in = record.data() + record.size() - left;
    std::uint32_t key = 0;
    std::uint64_t sum = 0;
    cells.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint32_t difference = 0;
        std::uint64_t value = 0;
        if (!JournalCells::get(in, left, difference, value)) return false;
        key += difference;
        cells.push_back({key, value});
        const std::uint64_t amount = value >> 63 != 0 && is_not_sampled_time(cells.back()) ? std::uint64_t{0} - value : value; // it may be negative
        if (amount > most_value - sum) return false;
        sum += amount;
        if (cells.back().node() > tree_->nodes.size() || cells.back().metric() >= metric_count + settings_.counter_metrics) return false;
    }
    const auto less = [](const libprofile::Cell& a, const libprofile::Cell& b) { return a.key < b.key; };
    if (!std::is_sorted(cells.begin(), cells.end(), less)) std::sort(cells.begin(), cells.end(), less);
    return left == 0 && std::adjacent_find(cells.begin(), cells.end(), [](const auto& a, const auto& b) { return a.key == b.key; }) == cells.end();
}

/// The rest of a phase is now `cells`, and its exclusive time follows.
void Application::replace_rest(PhaseData& data, const Cells& cells) {
    data.wall_ns -= time_in(data.rest);
    data.rest = model_cells(cells);
    data.wall_ns += time_in(data.rest);
}

/// What was in the rest when the snapshot was made was part of the iteration that ran, or had found no memory: it is in the
/// cells of the next iteration that is closed.
bool Application::apply_iteration(Decoder d, Bytes record) {
    JournalIteration r;
    Cells cells;
    describe(d, r);
    if (d.failed() || r.phase >= phases_.size() || r.fate > static_cast<std::uint64_t>(IterationFate::Mixed) || r.thread_wall_ns < wall_ns_ ||
        r.wall_ns > r.wall_inclusive_ns || r.wall_ns > most_value || !read_cells(d, record, r.cells, cells))
        return false;
    OpenPhase& phase = phases_[r.phase];
    PhaseData& into = data(phase);
    if (rank_.phases[phase.index].kind != PhaseKind::Iterations) return false;
    if (!phase.kept) phase.kept = std::make_unique<KeptIterations>(settings_, iterations_[r.phase]);
    const auto fate = static_cast<IterationFate>(r.fate);
    if (fate == IterationFate::Own || fate == IterationFate::Mixed) {
        std::uint64_t direct[cell_metrics] = {}, by_category[static_cast<std::size_t>(TimeCategory::Count)] = {};
        KeptProfile profile;
        const auto not_sampled = below_root_.find(NodeKind::NotSampled);
        for (const libprofile::Cell& cell : cells) {
            const bool is_square = not_sampled != below_root_.end() && cell.node() == not_sampled->second && // of the times of samples (docs/format.md)
                                   cell.metric() == static_cast<std::uint32_t>(Metric::Samples);
            if (!is_square) direct[cell.metric()] += cell.value;
            if (cell.metric() == 0) by_category[static_cast<std::size_t>(categories_[cell.node()])] += cell.value;
            if (is_event_[cell.node()] && is_exact_in_event(cell.metric(), 2 * settings_.counters)) profile.events.push_back(cell);
        }
        if (by_category[static_cast<std::size_t>(TimeCategory::Compute)] > most_value) return false;
        derive_catalogue(direct, by_category, profile.condensed.values);
        std::copy_n(direct + metric_count, most_counter_metrics, profile.condensed.values + catalogue_size);
        profile.signatures = {{{r.signatures[0], r.signatures[1]}}, {{r.signatures[2], r.signatures[3]}}};
        profile.cells = std::move(cells);
        phase.kept->add(std::move(profile), r.wall_ns, fate == IterationFate::Mixed);
        replace_rest(into, {});
        into.wall_ns += direct[0];
    } else {
        phase.kept->add_to_rest(r.wall_ns);
        if (fate == IterationFate::Rest) replace_rest(into, cells);
    }
    phase.iterations_ns += r.wall_ns;
    if (rank_.clock) phase.begins.push_back(rank_.clock->main_ns + (r.thread_wall_ns - std::min(r.thread_wall_ns, r.wall_ns)));
    into.wall_inclusive_ns = r.wall_inclusive_ns;
    wall_ns_ = r.thread_wall_ns;
    samples_taken_ = r.samples_taken;
    samples_lost_ = r.samples_lost;
    return true;
}

/// The cells of the newest iteration become the rest.
bool Application::put_back(Decoder d) {
    std::uint64_t number = 0;
    d.number(number);
    if (d.failed() || d.remaining() != 0 || number >= phases_.size() || !phases_[number].kept) return false;
    const std::optional<Cells> cells = phases_[number].kept->take_back();
    if (!cells) return false;
    PhaseData& into = data(phases_[number]);
    for (const libprofile::Cell& cell : *cells) into.wall_ns -= cell.metric() == 0 ? cell.value : 0; // replace_rest() adds them
    replace_rest(into, *cells);
    return true;
}

bool Application::apply_phase(Decoder d, Bytes record) {
    JournalPhase r;
    Cells cells;
    describe(d, r);
    if (d.failed() || r.phase >= phases_.size() || !read_cells(d, record, r.cells, cells)) return false;
    OpenPhase& phase = phases_[r.phase];
    if (rank_.phases[phase.index].kind == PhaseKind::Iterations) return false;
    PhaseData& into = data(phase);
    into.instances = r.instances;
    into.wall_inclusive_ns = r.wall_inclusive_ns;
    replace_rest(into, cells);
    const auto book = [&](NodeKind kind, std::uint64_t ns) {
        if (ns == 0) return;
        into.rest.push_back({node_of_kind(kind), 0, ns});
        into.wall_ns += ns;
    };
    book(NodeKind::NotSampled, r.not_sampled_ns);
    book(NodeKind::OffCpu, r.off_cpu_ns);
    return true;
}

/// A node below the root.
std::uint32_t Application::node_of_kind(NodeKind kind) {
    if (const auto at = below_root_.find(kind); at != below_root_.end()) return at->second;
    const NodeRecord node{tree_->nodes.size() + 1, static_cast<std::uint64_t>(kind), 0, 0};
    tree_->nodes.push_back(node);
    note_node(node);
    return static_cast<std::uint32_t>(tree_->nodes.size());
}

bool Application::apply(Bytes record) {
    Decoder d(record.data(), record.size());
    std::uint64_t kind = 0;
    d.number(kind);
    switch (static_cast<JournalRecord>(kind)) {
    case JournalRecord::Definitions: return define(d);
    case JournalRecord::Iteration: return apply_iteration(d, record);
    case JournalRecord::Phase: return apply_phase(d, record);
    case JournalRecord::PutBack: return put_back(d);
    }
    return false;
}

/// Builds before this one wrote values of phases before the definitions that they need. So what does not fit is tried once more, after the
/// next definitions, with all that came in between.
bool Application::take(Bytes record) {
    std::uint64_t kind = 0;
    Decoder(record.data(), record.size()).number(kind);
    if (kind != static_cast<std::uint64_t>(JournalRecord::Definitions)) {
        if (!waiting_.empty() || !apply(record)) waiting_.push_back(record);
        return true;
    }
    if (!apply(record) || !std::all_of(waiting_.begin(), waiting_.end(), [&](Bytes before) { return apply(before); })) return false;
    waiting_.clear();
    return true;
}

/// The series of the snapshot goes on with the iterations of the journal, wherever it ends.
void Application::keep_series(OpenPhase& phase, std::uint64_t iterations_before) {
    const RawPhase& raw = rank_.phases[phase.index];
    auto at = std::find_if(rank_.series.begin(), rank_.series.end(), [&](const RawSeries& s) { return s.thread == 0 && s.phase == raw.name; });
    if (at == rank_.series.end()) {
        rank_.series.push_back({0, raw.name, {}});
        at = rank_.series.end() - 1;
        at->data.chunks.emplace_back(); // a series has one
    }
    SeriesData& data = at->data;
    if (const std::uint64_t known = data.iterations(); known < iterations_before)
        data.chunks.emplace_back().iterations = static_cast<std::uint32_t>(iterations_before - known);
    data.later.push_back(phase.kept->series());
}

/// When iterations began goes on, too, unless the snapshot does not have it of all of its own.
void Application::keep_begins(OpenPhase& phase, std::uint64_t iterations_before) {
    if (!rank_.clock) return;
    const std::uint32_t number = rank_.phases[phase.index].number;
    auto at = std::find_if(rank_.begins.begin(), rank_.begins.end(), [&](const RawBegins& b) { return b.thread == 0 && b.phase == number; });
    if (at == rank_.begins.end()) at = rank_.begins.insert(at, {0, number, 0, {}, {}});
    if (at->gaps.size() == iterations_before) at->later = std::move(phase.begins);
}

/// The loops that were found went on since the snapshot, and so did the search.
void Application::prolong_loops(std::uint64_t wall_before) {
    const auto search = rank_.loop_searches.find(0);
    if (search == rank_.loop_searches.end()) return;
    if (search->second.searched_ns != 0) search->second.searched_ns += wall_ns_ - wall_before;
    for (FoundLoop& loop : search->second.loops)
        for (const OpenPhase& phase : phases_)
            if (rank_.phases[phase.index].kind == PhaseKind::Iterations && rank_.phases[phase.index].name == loop.phase) loop.last_ns += phase.iterations_ns;
}

bool Application::finish() {
    for (OpenPhase& phase : phases_) {
        if (!phase.kept) continue;
        const std::uint64_t before = data(phase).instances;
        keep_series(phase, before);
        keep_begins(phase, before);
        phase.kept->append_to(data(phase), is_event_);
        rank_.info->kept_iterations += phase.kept->iterations();
        rank_.info->beyond_reader += phase.kept->without_room();
        phase.kept.reset();
    }
    rank_.info->samples_taken += samples_taken_;
    rank_.info->samples_lost += samples_lost_;
    std::uint64_t known = 0;
    for (const OpenPhase& phase : phases_) known += data(phase).wall_ns;
    PhaseData& outside = data(phases_[0]);
    // Phase records may be younger than the last iteration.
    wall_ns_ = std::max(wall_ns_, known);
    if (wall_ns_ > known) {
        outside.rest.push_back({node_of_kind(NodeKind::NotRecorded), 0, wall_ns_ - known});
        outside.wall_ns += wall_ns_ - known;
    }
    outside.wall_inclusive_ns = std::max(outside.wall_inclusive_ns, wall_ns_);
    prolong_loops(location_->wall_ns);
    location_->wall_ns = wall_ns_;
    tree_->record.nodes = tree_->nodes.size();
    return waiting_.empty();
}

} // namespace

namespace {

/// Bounds the memory of iterations as long as it lives. There is one quota in the process, and so one of these at a time.
class Quota {
  public:
    explicit Quota(std::uint64_t bytes) { libprofile::memory_quota.limit(libprofile::memory_quota.used() + bytes); }
    ~Quota() { libprofile::memory_quota.limit(before_); }
    Quota(const Quota&) = delete;
    Quota& operator=(const Quota&) = delete;

  private:
    static inline std::mutex mutex_;
    const std::lock_guard<std::mutex> lock_{mutex_};
    const std::uint64_t before_ = libprofile::memory_quota.limit();
};

} // namespace

std::optional<std::string> apply_journal(Bytes journal, const KeptSettings& settings, RawRank& rank) {
    JournalScanner scanner(journal);
    std::optional<Bytes> record = scanner.next();
    if (!record) return std::nullopt;
    const Quota quota(memory_for(journal.size()));
    Application application(rank, settings);
    if (!application.begin(journal)) return "a journal does not match the snapshot before it";
    while (record && application.take(*record)) record = scanner.next();
    if (!application.finish() || record) return "a journal is malformed";
    return std::nullopt;
}

} // namespace libprofile::tools
