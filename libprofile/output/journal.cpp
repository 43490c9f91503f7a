#include "libprofile/output/journal.hpp"

#include "libprofile/base/function_records.hpp"
#include "libprofile/base/process_state.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/thread/thread.hpp"

#include <atomic>
#include <bit>
#include <cstring>

namespace libprofile {

namespace {

/// Calls visit(key, value) for every non-zero value.
template <class Visit> void for_each_cell(Accumulator& rows, Visit visit) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::uint64_t left = rows[i].present(); left != 0; left &= left - 1) {
            const auto m = static_cast<unsigned>(std::countr_zero(left));
            if (rows[i].values[m] != 0) visit(Cell::make_key(rows[i].node, m), rows[i].values[m]);
        }
}

} // namespace

void Journal::begin(Thread& thread, unsigned char* memory, std::size_t size, std::uint32_t modules) noexcept {
    thread_ = &thread;
    memory_ = memory;
    size_ = size;
    used_ = pending_ = 0;
    sequence_ = 0;
    is_full_ = false;
    fate_ = nullptr;
    nodes_ = static_cast<std::uint32_t>(thread.tree.size());
    modules_ = modules;
    phases_ = static_cast<std::uint32_t>(thread.phases.all().size());
    for (std::uint64_t& bits : functions_) bits = 0;
    for (NodeId id = 1; id < nodes_; ++id) {
        const Node& node = thread.tree[id];
        if (is_call(node.kind) && node.a < most_functions) functions_[node.a / 64] |= std::uint64_t{1} << (node.a % 64);
    }
    samples_taken_ = thread.samples_taken;
    samples_lost_ = thread.samples_lost;
    other_phases_at_ = session_clock.now(); // the snapshot contains them
}

void Journal::rewind() noexcept {
    std::memset(memory_, 0, used_);
    used_ = 0;
}

bool Journal::has_room(std::size_t payload_bytes) noexcept {
    if (is_full_) return false;
    is_full_ = size_ - used_ < sizeof(JournalRecordHeader) + padded_to_8(payload_bytes) + JournalCells::slack;
    return !is_full_;
}

/// Before this, the header and everything after the payload are zero.
void Journal::commit(std::size_t payload_bytes) noexcept {
    JournalRecordHeader header{0, static_cast<std::uint32_t>(payload_bytes), journal_check(payload(), payload_bytes, sequence_)};
    unsigned char* record = memory_ + used_;
    std::memcpy(record, &header, sizeof header);
    // The compiler keeps the order of stores here. A kill never makes a store visible without the earlier ones.
    std::atomic_signal_fence(std::memory_order_release);
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(record), journal_mark, __ATOMIC_RELEASE);
    used_ += sizeof header + padded_to_8(payload_bytes);
    ++sequence_;
}

void Journal::describe_definitions(Encoder& encoder, std::uint32_t modules) const noexcept {
    encoder.number(static_cast<std::uint64_t>(JournalRecord::Definitions));
    PhaseStack& phases = thread_->phases;
    encoder.number(phases_);
    encoder.number(phases.all().size() - phases_);
    for (std::size_t i = phases_; i < phases.all().size(); ++i) {
        encoder.number(static_cast<std::uint64_t>(phases.all()[i].kind));
        encoder.text(phases.all()[i].name);
    }
    encoder.number(modules_);
    encoder.number(modules - modules_);
    for (std::uint32_t i = modules_; i < modules; ++i) {
        const Module& module = load_map[i];
        ModuleRecord record{Text(reinterpret_cast<const char*>(module.build_id), module.build_id_size), module.path};
        describe(encoder, record);
    }
    const CallTree& tree = thread_->tree;
    const auto for_each_new_function = [&](auto visit) {
        std::uint64_t seen[most_functions / 64];
        std::memcpy(seen, functions_, sizeof seen);
        for (NodeId id = nodes_; id < tree.size(); ++id) {
            const Node& node = tree[id];
            if (!is_call(node.kind) || node.a >= most_functions) continue;
            const std::uint64_t bit = std::uint64_t{1} << (node.a % 64);
            if ((seen[node.a / 64] & bit) == 0) visit(node.a);
            seen[node.a / 64] |= bit;
        }
    };
    std::uint64_t functions = 0;
    for_each_new_function([&](unsigned) { ++functions; });
    encoder.number(functions);
    for_each_new_function([&](unsigned id) {
        FunctionRecord record{id, mpi_functions[id].name, static_cast<std::uint64_t>(mpi_functions[id].category)};
        describe(encoder, record);
    });
    encoder.number(nodes_);
    encoder.number(tree.size() - nodes_);
    for (NodeId id = nodes_; id < tree.size(); ++id) {
        const Node& node = tree[id];
        NodeRecord record{id - node.parent, static_cast<std::uint64_t>(node.kind), node.a, node.b};
        describe(encoder, record);
    }
}

void Journal::add_definitions() noexcept {
    const CallTree& tree = thread_->tree;
    if (nodes_ == tree.size() && phases_ == thread_->phases.all().size()) [[likely]]
        return;
    const std::uint32_t modules = load_map.size(); // it may grow meanwhile
    Encoder measure(nullptr, 0);
    describe_definitions(measure, modules);
    if (!has_room(measure.size())) return;
    Encoder encoder(payload(), measure.size());
    describe_definitions(encoder, modules);
    commit(measure.size());
    for (NodeId id = nodes_; id < tree.size(); ++id)
        if (is_call(tree[id].kind) && tree[id].a < most_functions) functions_[tree[id].a / 64] |= std::uint64_t{1} << (tree[id].a % 64);
    nodes_ = static_cast<std::uint32_t>(tree.size());
    modules_ = modules;
    phases_ = static_cast<std::uint32_t>(thread_->phases.all().size());
}

/// Adds the values so far of a phase without iterations.
void Journal::add_phase(Phase& phase, std::uint64_t now) noexcept {
    JournalPhase record;
    record.phase = phase.number;
    record.instances = phase.instances;
    record.wall_inclusive_ns = phase.wall_inclusive_ns + (phase.open ? now - phase.opened_at : 0);
    record.not_sampled_ns = phase.compute_ns() - phase.outside.sampled_ns; // as close_interval() would book them
    record.off_cpu_ns = phase.off_cpu_ns();
    for_each_cell(phase.rows, [&](std::uint32_t, std::uint64_t) { ++record.cells; });
    if (!has_room(room_for(record.cells))) return;
    Encoder encoder(payload(), 256);
    encoder.number(static_cast<std::uint64_t>(JournalRecord::Phase));
    describe(encoder, record);
    unsigned char* out = payload() + encoder.size();
    std::uint32_t previous = 0;
    for_each_cell(phase.rows, [&](std::uint32_t key, std::uint64_t value) {
        out = JournalCells::put(out, key - previous, value);
        previous = key;
    });
    commit(static_cast<std::size_t>(out - payload()));
}

/// Runs at most once a second, because phases without iterations repeat all their values each time.
void Journal::add_other_phases(std::uint64_t now) noexcept {
    if (now < other_phases_at_ + other_phases_every_ns) [[likely]]
        return;
    other_phases_at_ = now;
    PhaseStack& phases = thread_->phases;
    for (std::size_t i = 0; i < phases.all().size(); ++i)
        if (phases.all()[i].kind != PhaseKind::Iterations) add_phase(phases.all()[i], now);
}

void Journal::closing(const Phase& phase, const IterationProfile& profile, const StructureSignatures& signatures, std::uint64_t wall_ns,
                      std::uint64_t now) noexcept {
    fate_ = nullptr;
    if (!is_running()) return;
    add_definitions(); // first, because the other phases have call paths and numbers of their own
    add_other_phases(now);
    if (!has_room(room_for(profile.size))) return;
    JournalIteration record;
    record.phase = phase.number;
    record.wall_ns = wall_ns;
    record.wall_inclusive_ns = phase.wall_inclusive_ns;
    record.thread_wall_ns = now - thread_->started_at;
    record.samples_taken = thread_->samples_taken - samples_taken_;
    record.samples_lost = thread_->samples_lost - samples_lost_;
    record.signatures[0] = signatures.strong.part[0];
    record.signatures[1] = signatures.strong.part[1];
    record.signatures[2] = signatures.weak.part[0];
    record.signatures[3] = signatures.weak.part[1];
    record.cells = profile.size;
    Encoder encoder(payload(), 256);
    encoder.number(static_cast<std::uint64_t>(JournalRecord::Iteration));
    encoder.number(record.phase);
    fate_ = payload() + encoder.size(); // a number below 128 is one byte
    encoder = Encoder(payload(), 256);
    encoder.number(static_cast<std::uint64_t>(JournalRecord::Iteration));
    describe(encoder, record);
    unsigned char* out = payload() + encoder.size();
    std::uint32_t previous = 0;
    for (std::uint32_t i = 0; i < profile.size; ++i) {
        const Cell& cell = profile.cells[i];
        out = JournalCells::put(out, cell.key - previous, cell.value);
        previous = cell.key;
    }
    pending_ = static_cast<std::size_t>(out - payload());
}

bool Journal::closed(IterationFate fate) noexcept {
    if (fate_ == nullptr) return false;
    *fate_ = static_cast<unsigned char>(fate);
    fate_ = nullptr;
    commit(pending_);
    return true;
}

bool Journal::put_back(const Phase& phase) noexcept {
    if (!is_running() || !has_room(16)) return false;
    Encoder encoder(payload(), 16);
    encoder.number(static_cast<std::uint64_t>(JournalRecord::PutBack));
    encoder.number(phase.number);
    commit(encoder.size());
    return true;
}

} // namespace libprofile
