// Open Trace Format 2: kept events (LIBPROFILE_TRACE=events) for Vampir, Scalasca's tools and everything else that reads archives of Score-P.
//
// What lies between two kept parts is marked as not measured. A message is there if both its ends are, and if readers, which match sends and receives
// in their order, find the same pairs. Communicators of other ranks than MPI_COMM_WORLD keep their name, and its numbers of ranks.

#include "tools/export/event_rows.hpp"
#include "tools/export/formats.hpp"
#include "tools/export/location_name.hpp"
#include "tools/export/otf2_archive.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace libprofile::tools {

namespace {

/// One end of a message that is to be written, in the order of its thread.
struct MessageEnd {
    std::uint32_t location = 0, message = 0;
    auto operator<=>(const MessageEnd&) const = default;
};

OTF2_Paradigm paradigm_of(NodeKind kind) {
    switch (kind) {
    case NodeKind::Mpi: return OTF2_PARADIGM_MPI;
    case NodeKind::OpenMp: return OTF2_PARADIGM_OPENMP;
    case NodeKind::FunctionRegion: return OTF2_PARADIGM_COMPILER;
    default: return OTF2_PARADIGM_USER;
    }
}

/// What blocking operations without a root are called there; with one, the root would have to be known.
std::optional<OTF2_CollectiveOp> otf2_collective(std::string_view function) {
    constexpr std::pair<std::string_view, OTF2_CollectiveOp> operations[] = {{"Barrier", OTF2_COLLECTIVE_OP_BARRIER},
                                                                             {"Allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
                                                                             {"Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
                                                                             {"Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
                                                                             {"Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
                                                                             {"Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
                                                                             {"Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
                                                                             {"Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
                                                                             {"Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
                                                                             {"Scan", OTF2_COLLECTIVE_OP_SCAN},
                                                                             {"Exscan", OTF2_COLLECTIVE_OP_EXSCAN}};
    constexpr std::string_view begin = "MPI_", large = "_c";
    if (!function.starts_with(begin)) return {};
    function.remove_prefix(begin.size());
    if (function.ends_with(large)) function.remove_suffix(large.size());
    for (const auto& [name, operation] : operations)
        if (function == name) return operation;
    return {};
}

class Otf2Export {
  public:
    Otf2Export(const Profile& profile, const ExportRequest& request) : profile_(profile), rows_(profile, request.choice), archive_("libprofile") {
        match_messages();
        choose_collectives();
        number_teams();
    }

    Remarks write(Sink& sink) {
        for (const Location* location : rows_.locations()) write_events(*location);
        archive_.end_events();
        write_definitions();
        archive_.finish(sink);
        Remarks remarks = rows_.remarks();
        if (left_out_ != 0)
            remarks.push_back(fmt::format("{} messages are left out: they lie in threads other than the main thread, or were completed in another order than "
                                          "they were sent, and readers would match the wrong ends",
                                          left_out_));
        if (!written_collectives_.empty())
            remarks.emplace_back("collective operations have 0 bytes, since their sizes were not recorded; those with a root, which was not recorded either, "
                                 "are calls only, and so are those of which a rank's call is not there");
        return remarks;
    }

  private:
    using Kind = EventSlice::Kind;
    std::uint32_t position(const Location& location) const { return rows_.position(location); }

    /// Calls of an interval: those messages of it that can be written.
    template <class Visit> void visit_messages(const Location& location, const EventSlice& slice, MessageDirection direction, Visit visit) const {
        for (const TracedMessage& message : ChosenEvents::messages(location.events, slice))
            if (message.direction == direction) visit(static_cast<std::uint32_t>(&message - location.events.messages.data()), message);
    }

    /// Readers match the sends and receives of two ranks, a communicator and a tag in their order. Where that gives other pairs, none is written.
    void match_messages() {
        using Sort = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int32_t>; // sender, receiver, communicator, tag
        struct Ends {
            std::vector<MessageEnd> sent, received; // both as the sender's end
        };
        std::map<Sort, Ends> kinds;
        std::uint64_t of_threads = 0;
        for (const Location* location : rows_.locations()) {
            const auto note = [&](std::uint32_t number, const TracedMessage& message) {
                const MessagePairs::End other = rows_.chosen().other_end(position(*location), number);
                if (!other.is_known()) return;
                if (location->thread != 0 || profile_.locations[other.location].thread != 0) {
                    of_threads += message.direction == MessageDirection::Sent ? 1 : 0;
                    return;
                }
                if (message.direction == MessageDirection::Sent)
                    kinds[{location->rank, message.partner, message.communicator, message.tag}].sent.push_back({position(*location), number});
                else
                    kinds[{message.partner, location->rank, message.communicator, message.tag}].received.push_back({other.location, other.message});
            };
            for (const EventPart& part : location->events.parts)
                if (rows_.chosen().is_chosen(part))
                    rows_.chosen().visit(
                        *location, part, [&](const EventSlice& slice) { visit_messages(*location, slice, MessageDirection::Sent, note); },
                        [&](const EventSlice& slice) { visit_messages(*location, slice, MessageDirection::Received, note); });
        }
        left_out_ = of_threads;
        for (const auto& [kind, ends] : kinds) {
            if (ends.sent == ends.received)
                written_.insert(written_.end(), ends.sent.begin(), ends.sent.end());
            else
                left_out_ += ends.sent.size();
        }
        std::sort(written_.begin(), written_.end());
    }

    /// Of a call that is written as one: readers take the calls of a communicator in their order, so those of all its ranks must be there.
    const CollectiveOperation* collective_of(const Location& location, const EventSlice& slice) const {
        const CollectiveOperation* operation = rows_.collective(location, slice);
        return operation != nullptr && written_collectives_.contains(operation) ? operation : nullptr;
    }
    void choose_collectives() {
        std::map<const CollectiveOperation*, std::size_t> calls;
        for (const Location* location : rows_.locations())
            for (const EventPart& part : location->events.parts) {
                if (location->thread != 0 || !rows_.chosen().is_chosen(part)) continue;
                for (const EventSlice& slice : rows_.chosen().slices(*location, part)) {
                    const CollectiveOperation* operation = rows_.collective(*location, slice);
                    if (operation != nullptr && otf2_collective(rows_.names().name(*location, slice))) ++calls[operation];
                }
            }
        for (const auto& [operation, count] : calls) {
            const std::vector<std::uint32_t>* members = rows_.collectives().members(operation->communicator);
            if (members != nullptr && count == members->size()) written_collectives_.insert(operation);
        }
    }

    bool is_written(const Location& location, std::uint32_t number, const TracedMessage& message) const {
        const MessagePairs::End other = rows_.chosen().other_end(position(location), number);
        const MessageEnd sender =
            message.direction == MessageDirection::Sent ? MessageEnd{position(location), number} : MessageEnd{other.location, other.message};
        return std::binary_search(written_.begin(), written_.end(), sender);
    }

    /// A task is a region of the function that it runs.
    OTF2_RegionRef region_of(const Location& location, const EventSlice& slice) {
        if (slice.kind == Kind::Iteration) return region_of_phase(location.events.inners[slice.at].phase);
        if (slice.kind == Kind::Interval) return region_of_path(location.events.intervals[slice.at].path);
        return region({rows_.names().name(location, slice), "", 0, static_cast<int>(OTF2_PARADIGM_OPENMP), OTF2_REGION_ROLE_TASK});
    }
    OTF2_RegionRef region_of_path(std::uint32_t path) {
        const auto [at, is_new] = regions_of_paths_.emplace(path, 0);
        if (is_new) {
            const Label label = label_of(profile_, profile_.paths[path]);
            at->second = region({label.name, label.file, label.line, static_cast<int>(paradigm_of(profile_.paths[path].kind)), OTF2_REGION_ROLE_FUNCTION});
        }
        return at->second;
    }
    OTF2_RegionRef region_of_phase(std::uint32_t phase) {
        return region({profile_.phases[phase].name, "", 0, static_cast<int>(OTF2_PARADIGM_USER), OTF2_REGION_ROLE_LOOP});
    }
    using Region = std::tuple<std::string, std::string, std::uint64_t, int, int>; // name, file, line, paradigm, role
    OTF2_RegionRef region(const Region& region) { return regions_.emplace(region, static_cast<OTF2_RegionRef>(regions_.size())).first->second; }
    /// What a communicator is of: messages, whose ranks are those of MPI_COMM_WORLD; the threads of a rank; collective operations, with its own ranks.
    enum class Uses : std::uint8_t { Messages, Team, Collectives };
    using Communicator = std::pair<Uses, std::uint32_t>; // and the rank, or the hash of MPI's
    OTF2_CommRef number(const Communicator& communicator) {
        return communicators_.emplace(communicator, static_cast<OTF2_CommRef>(communicators_.size())).first->second;
    }
    OTF2_CommRef communicator(std::uint32_t hash) { return number({Uses::Messages, hash}); }
    OTF2_CommRef team(std::uint32_t rank) { return number({Uses::Team, rank}); }

    /// The threads of a rank are one team, whatever the program's regions were.
    void number_teams() {
        for (const Location* location : rows_.locations()) {
            std::vector<const Location*>& team = teams_[location->rank];
            number_in_team_.push_back(static_cast<std::uint32_t>(team.size()));
            team.push_back(location);
        }
    }
    std::uint32_t number_in_team(const Location& location) const {
        const auto at = std::lower_bound(rows_.locations().begin(), rows_.locations().end(), &location);
        return at != rows_.locations().end() && *at == &location ? number_in_team_[static_cast<std::size_t>(at - rows_.locations().begin())] : UINT32_MAX;
    }

    /// Task 0 is the implicit one of the thread. Of a task whose creation is not in the archive nothing is written but its region.
    template <class Write> void write_task(const Location& location, Write write_it, OTF2_EvtWriter* writer, std::uint64_t at, std::uint64_t task) {
        const Location* creator = task == 0 ? &location : rows_.creator(location.rank, task);
        const std::uint32_t thread = creator == nullptr ? UINT32_MAX : number_in_team(*creator);
        if (thread != UINT32_MAX) archive_.check(write_it(writer, nullptr, at, team(location.rank), thread, static_cast<std::uint32_t>(task)));
    }

    void write_events(const Location& location) {
        OTF2_EvtWriter* writer = archive_.open_events(position(location));
        const auto at = [&](std::uint64_t own_ns) { return rows_.time(location, own_ns); };
        const auto enter_iteration = [&](std::uint32_t phase, std::uint64_t number, std::uint64_t own_ns) {
            archive_.check(OTF2_EvtWriter_Enter(writer, nullptr, at(own_ns), region_of_phase(phase)));
            archive_.check(OTF2_EvtWriter_ParameterUnsignedInt(writer, nullptr, at(own_ns), 0, number + 1));
        };
        std::uint64_t end = 0;
        bool is_measured = false;
        for (const EventPart& part : location.events.parts) {
            if (!rows_.chosen().is_chosen(part)) continue;
            if (!is_measured || end != part.begin_ns) {
                if (std::exchange(is_measured, true)) archive_.check(OTF2_EvtWriter_MeasurementOnOff(writer, nullptr, at(end), OTF2_MEASUREMENT_OFF));
                archive_.check(OTF2_EvtWriter_MeasurementOnOff(writer, nullptr, at(part.begin_ns), OTF2_MEASUREMENT_ON));
            }
            end = part.end_ns;
            if (is_iteration(part)) enter_iteration(part.phase, part.number, part.begin_ns);
            std::vector<std::uint64_t> running; // tasks, the outermost first
            rows_.chosen().visit(
                location, part,
                [&](const EventSlice& slice) {
                    if (slice.kind == Kind::TaskCreation)
                        return write_task(location, OTF2_EvtWriter_ThreadTaskCreate, writer, at(slice.begin_ns), task_of(location.events, slice));
                    if (slice.kind == Kind::TaskRun) {
                        running.push_back(task_of(location.events, slice));
                        write_task(location, OTF2_EvtWriter_ThreadTaskSwitch, writer, at(slice.begin_ns), running.back());
                    }
                    if (slice.kind == Kind::Iteration) {
                        const TracedInner& inner = location.events.inners[slice.at];
                        return enter_iteration(inner.phase, inner.number, slice.begin_ns);
                    }
                    archive_.check(OTF2_EvtWriter_Enter(writer, nullptr, at(slice.begin_ns), region_of(location, slice)));
                    if (collective_of(location, slice) != nullptr) archive_.check(OTF2_EvtWriter_MpiCollectiveBegin(writer, nullptr, at(slice.begin_ns)));
                    visit_messages(location, slice, MessageDirection::Sent, [&](std::uint32_t number, const TracedMessage& message) {
                        if (is_written(location, number, message))
                            archive_.check(OTF2_EvtWriter_MpiSend(writer, nullptr, at(slice.begin_ns), message.partner, communicator(message.communicator),
                                                                  static_cast<std::uint32_t>(message.tag), message.bytes));
                    });
                },
                [&](const EventSlice& slice) {
                    if (slice.kind == Kind::TaskCreation) return;
                    visit_messages(location, slice, MessageDirection::Received, [&](std::uint32_t number, const TracedMessage& message) {
                        if (is_written(location, number, message))
                            archive_.check(OTF2_EvtWriter_MpiRecv(writer, nullptr, at(slice.end_ns), message.partner, communicator(message.communicator),
                                                                  static_cast<std::uint32_t>(message.tag), message.bytes));
                    });
                    if (const CollectiveOperation* operation = collective_of(location, slice))
                        archive_.check(OTF2_EvtWriter_MpiCollectiveEnd(
                            writer, nullptr, at(slice.end_ns), *otf2_collective(rows_.names().name(location, slice)),
                            number({operation->communicator == 0 ? Uses::Messages : Uses::Collectives, operation->communicator}), OTF2_COLLECTIVE_ROOT_NONE, 0,
                            0));
                    archive_.check(OTF2_EvtWriter_Leave(writer, nullptr, at(slice.end_ns), region_of(location, slice)));
                    if (slice.kind != Kind::TaskRun) return;
                    if (location.events.runs[slice.at].is_over)
                        write_task(location, OTF2_EvtWriter_ThreadTaskComplete, writer, at(slice.end_ns), running.back());
                    running.pop_back();
                    write_task(location, OTF2_EvtWriter_ThreadTaskSwitch, writer, at(slice.end_ns), running.empty() ? 0 : running.back());
                });
            if (is_iteration(part)) archive_.check(OTF2_EvtWriter_Leave(writer, nullptr, at(part.end_ns), region_of_phase(part.phase)));
        }
        archive_.check(OTF2_EvtWriter_MeasurementOnOff(writer, nullptr, at(end), OTF2_MEASUREMENT_OFF));
        events_.push_back(archive_.close_events(writer));
    }

    void write_definitions() {
        OTF2_GlobalDefWriter* writer = archive_.definitions();
        const OTF2_StringRef none = archive_.text("");
        constexpr std::uint64_t ns_a_second = 1'000'000'000;
        archive_.check(OTF2_GlobalDefWriter_WriteClockProperties(writer, ns_a_second, 0, rows_.end() + 1, OTF2_UNDEFINED_TIMESTAMP));
        archive_.check(OTF2_GlobalDefWriter_WriteParameter(writer, 0, archive_.text("iteration"), OTF2_PARAMETER_TYPE_UINT64));
        std::vector<const Region*> regions(regions_.size());
        for (const auto& [region, number] : regions_) regions[number] = &region;
        for (OTF2_RegionRef number = 0; number < regions.size(); ++number) {
            const auto& [name, file, line, paradigm, role] = *regions[number];
            const auto line_number = static_cast<std::uint32_t>(line);
            archive_.check(OTF2_GlobalDefWriter_WriteRegion(writer, number, archive_.text(name), archive_.text(name), none, static_cast<OTF2_RegionRole>(role),
                                                            static_cast<OTF2_Paradigm>(paradigm), OTF2_REGION_FLAG_NONE,
                                                            file.empty() ? OTF2_UNDEFINED_STRING : archive_.text(file), line_number, line_number));
        }
        write_system(writer);
        write_communicators(writer);
    }

    /// Machines, ranks and threads.
    void write_system(OTF2_GlobalDefWriter* writer) {
        std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
        archive_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, archive_.text("job"), archive_.text("machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        std::map<std::uint32_t, bool> has_group;
        for (std::size_t i = 0; i < rows_.locations().size(); ++i) {
            const Location& location = *rows_.locations()[i];
            const std::string host = rows_.host(location.rank);
            const auto [node, is_new] = hosts.emplace(host, static_cast<OTF2_SystemTreeNodeRef>(hosts.size() + 1));
            if (is_new) archive_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, node->second, archive_.text(host), archive_.text("node"), 0));
            if (!std::exchange(has_group[location.rank], true))
                archive_.check(OTF2_GlobalDefWriter_WriteLocationGroup(writer, location.rank, archive_.text(location_name(location.rank, 0)),
                                                                       OTF2_LOCATION_GROUP_TYPE_PROCESS, node->second, OTF2_UNDEFINED_LOCATION_GROUP));
            archive_.check(OTF2_GlobalDefWriter_WriteLocation(writer, position(location), archive_.text(location_name(location.rank, location.thread)),
                                                              OTF2_LOCATION_TYPE_CPU_THREAD, events_[i], location.rank));
        }
    }

    void write_communicators(OTF2_GlobalDefWriter* writer) {
        std::vector<const std::pair<const Communicator, OTF2_CommRef>*> list(communicators_.size());
        for (const auto& one : communicators_) list[one.second] = &one;
        OTF2_GroupRef world = OTF2_UNDEFINED_GROUP;
        std::vector<std::uint64_t> places; // of the teams' members
        for (const auto* one : list) {
            const auto [uses, id] = one->first;
            const bool is_team = uses == Uses::Team;
            if (!is_team && world == OTF2_UNDEFINED_GROUP) world = write_world(writer);
            if (is_team && places.empty()) {
                for (const Location* location : rows_.locations()) places.push_back(position(*location));
                write_group(writer, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_OPENMP, "", places);
            }
            const std::string name = is_team                                ? fmt::format("threads of rank {}", id)
                                     : id == 0 || uses == Uses::Collectives ? rows_.collectives().name(id)
                                                                            : fmt::format("communicator {:x}, ranks of MPI_COMM_WORLD", id);
            const OTF2_GroupRef group = is_team                     ? write_team(writer, places, teams_.at(id))
                                        : uses == Uses::Collectives ? write_members(writer, *rows_.collectives().members(id))
                                                                    : world;
            archive_.check(OTF2_GlobalDefWriter_WriteComm(writer, one->second, archive_.text(name), group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
        }
    }
    OTF2_GroupRef write_world(OTF2_GlobalDefWriter* writer) {
        std::vector<std::uint64_t> mains; // by rank; a rank that is not there has the number of none
        for (const Location* location : rows_.locations()) {
            if (location->thread != 0) continue;
            mains.resize(std::max<std::size_t>(mains.size(), location->rank + std::size_t{1}), OTF2_UNDEFINED_LOCATION);
            mains[location->rank] = position(*location);
        }
        write_group(writer, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, "", mains);
        std::vector<std::uint64_t> all(mains.size());
        std::iota(all.begin(), all.end(), 0u);
        return write_group(writer, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, "MPI_COMM_WORLD", all);
    }
    /// Ranks are positions in the list of main threads.
    OTF2_GroupRef write_members(OTF2_GlobalDefWriter* writer, const std::vector<std::uint32_t>& ranks) {
        return write_group(writer, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, "", {ranks.begin(), ranks.end()});
    }
    OTF2_GroupRef write_team(OTF2_GlobalDefWriter* writer, const std::vector<std::uint64_t>& places, const std::vector<const Location*>& team) {
        std::vector<std::uint64_t> members; // positions in `places`
        for (const Location* location : team)
            members.push_back(static_cast<std::uint64_t>(std::lower_bound(places.begin(), places.end(), position(*location)) - places.begin()));
        return write_group(writer, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_OPENMP, "", members);
    }
    OTF2_GroupRef write_group(OTF2_GlobalDefWriter* writer, OTF2_GroupType type, OTF2_Paradigm paradigm, const char* name,
                              const std::vector<std::uint64_t>& members) {
        archive_.check(OTF2_GlobalDefWriter_WriteGroup(writer, groups_, archive_.text(name), type, paradigm, OTF2_GROUP_FLAG_NONE,
                                                       static_cast<std::uint32_t>(members.size()), members.data()));
        return groups_++;
    }

    const Profile& profile_;
    EventRows rows_;
    Otf2Archive archive_;
    std::vector<std::uint64_t> events_;                           // by location
    std::map<std::uint32_t, std::vector<const Location*>> teams_; // by rank
    std::vector<std::uint32_t> number_in_team_;                   // by location
    std::map<std::uint32_t, OTF2_RegionRef> regions_of_paths_;
    std::map<Region, OTF2_RegionRef> regions_;
    std::map<Communicator, OTF2_CommRef> communicators_;
    OTF2_GroupRef groups_ = 0;        // written so far
    std::vector<MessageEnd> written_; // senders' ends, sorted
    std::uint64_t left_out_ = 0;
    std::set<const CollectiveOperation*> written_collectives_;
};

} // namespace

Remarks write_otf2(const Profile& profile, const ExportRequest& request, Sink& sink) { return Otf2Export(profile, request).write(sink); }

} // namespace libprofile::tools
