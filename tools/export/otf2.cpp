// Open Trace Format 2: kept events (LIBPROFILE_TRACE=events) for Vampir, Scalasca's tools and everything else that reads archives of Score-P.
//
// What lies between two kept parts is marked as not measured. A message is there if both its ends are, and if readers, which match sends and receives
// in their order, find the same pairs. Communicators of other ranks than MPI_COMM_WORLD keep their name, and its numbers of ranks.

#include "tools/analysis/clock_axis.hpp"
#include "tools/export/chosen_events.hpp"
#include "tools/export/formats.hpp"
#include "tools/export/location_name.hpp"
#include "tools/export/otf2_archive.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
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

class Otf2Export {
  public:
    Otf2Export(const Profile& profile, const ExportRequest& request)
        : profile_(profile), chosen_(profile, request.choice), axis_(profile), archive_("libprofile") {
        for (const Location* location : locations_of_choice(profile, request.choice)) {
            const EventPart* first = chosen_.first_part(location->events);
            if (first == nullptr) continue;
            if (location->rank > most_ranks) throw ExportError(fmt::format("rank {} is beyond what an archive is written for", location->rank));
            locations_.push_back(location);
            begin_ = std::min(begin_, axis_.at(location->rank, first->begin_ns));
        }
        if (locations_.empty())
            throw ExportError("no events were recorded in what is chosen: run the job with LIBPROFILE_TRACE=events, or choose other ranks and iterations");
        match_messages();
    }

    Remarks write(Sink& sink) {
        for (const Location* location : locations_) write_events(*location);
        archive_.end_events();
        write_definitions();
        archive_.finish(sink);
        Remarks remarks = axis_.limits();
        if (left_out_ != 0)
            remarks.push_back(fmt::format("{} messages are left out: they lie in threads other than the main thread, or were completed in another order than "
                                          "they were sent, and readers would match the wrong ends",
                                          left_out_));
        return remarks;
    }

  private:
    static constexpr std::uint32_t most_ranks = 1u << 24; // of a file that says the truth

    std::uint32_t position(const Location& location) const { return static_cast<std::uint32_t>(&location - profile_.locations.data()); }
    std::uint64_t time(const Location& location, std::uint64_t own_ns) {
        const std::uint64_t at = axis_.at(location.rank, own_ns) - begin_;
        end_ = std::max(end_, at);
        return at;
    }

    /// Calls enter(slice), leave(slice) for what a part has, as it is nested; times within the part.
    template <class Enter, class Leave> void visit(const Location& location, const EventPart& part, Enter enter, Leave leave) const {
        std::vector<EventSlice> open;
        const auto close = [&] {
            leave(open.back());
            open.pop_back();
        };
        for (EventSlice slice : chosen_.slices(location.events, part)) {
            while (!open.empty() && open.back().end_ns <= slice.begin_ns) close();
            slice.end_ns = std::min(slice.end_ns, open.empty() ? part.end_ns : open.back().end_ns);
            slice.begin_ns = std::min(std::max(slice.begin_ns, part.begin_ns), slice.end_ns);
            enter(slice);
            open.push_back(slice);
        }
        while (!open.empty()) close();
    }

    /// Calls of an interval: those messages of it that can be written.
    template <class Visit> void visit_messages(const Location& location, const EventSlice& slice, MessageDirection direction, Visit visit) const {
        if (slice.interval == EventSlice::no_interval) return;
        const std::vector<TracedMessage>& messages = location.events.messages;
        auto at = std::lower_bound(messages.begin(), messages.end(), slice.interval,
                                   [](const TracedMessage& message, std::uint32_t interval) { return message.interval < interval; });
        for (; at != messages.end() && at->interval == slice.interval; ++at)
            if (at->direction == direction) visit(static_cast<std::uint32_t>(at - messages.begin()), *at);
    }

    /// Readers match the sends and receives of two ranks, a communicator and a tag in their order. Where that gives other pairs, none is written.
    void match_messages() {
        using Kind = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int32_t>; // sender, receiver, communicator, tag
        struct Ends {
            std::vector<MessageEnd> sent, received; // both as the sender's end
        };
        std::map<Kind, Ends> kinds;
        std::uint64_t of_threads = 0;
        for (const Location* location : locations_) {
            const auto note = [&](std::uint32_t number, const TracedMessage& message) {
                const MessagePairs::End other = chosen_.other_end(position(*location), number);
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
                if (chosen_.is_chosen(part))
                    visit(
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

    bool is_written(const Location& location, std::uint32_t number, const TracedMessage& message) const {
        const MessagePairs::End other = chosen_.other_end(position(location), number);
        const MessageEnd sender =
            message.direction == MessageDirection::Sent ? MessageEnd{position(location), number} : MessageEnd{other.location, other.message};
        return std::binary_search(written_.begin(), written_.end(), sender);
    }

    OTF2_RegionRef region_of(const EventSlice& slice, const KeptEvents& events) {
        return slice.interval == EventSlice::no_interval ? region_of_phase(slice.phase) : region_of_path(events.intervals[slice.interval].path);
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
    OTF2_CommRef communicator(std::uint32_t hash) { return communicators_.emplace(hash, static_cast<OTF2_CommRef>(communicators_.size())).first->second; }

    void write_events(const Location& location) {
        OTF2_EvtWriter* writer = archive_.open_events(position(location));
        const auto at = [&](std::uint64_t own_ns) { return time(location, own_ns); };
        const auto enter_iteration = [&](std::uint32_t phase, std::uint64_t number, std::uint64_t own_ns) {
            archive_.check(OTF2_EvtWriter_Enter(writer, nullptr, at(own_ns), region_of_phase(phase)));
            archive_.check(OTF2_EvtWriter_ParameterUnsignedInt(writer, nullptr, at(own_ns), 0, number + 1));
        };
        std::uint64_t end = 0;
        bool is_measured = false;
        for (const EventPart& part : location.events.parts) {
            if (!chosen_.is_chosen(part)) continue;
            if (!is_measured || end != part.begin_ns) {
                if (std::exchange(is_measured, true)) archive_.check(OTF2_EvtWriter_MeasurementOnOff(writer, nullptr, at(end), OTF2_MEASUREMENT_OFF));
                archive_.check(OTF2_EvtWriter_MeasurementOnOff(writer, nullptr, at(part.begin_ns), OTF2_MEASUREMENT_ON));
            }
            end = part.end_ns;
            if (is_iteration(part)) enter_iteration(part.phase, part.number, part.begin_ns);
            visit(
                location, part,
                [&](const EventSlice& slice) {
                    if (slice.interval == EventSlice::no_interval) return enter_iteration(slice.phase, slice.number, slice.begin_ns);
                    archive_.check(OTF2_EvtWriter_Enter(writer, nullptr, at(slice.begin_ns), region_of(slice, location.events)));
                    visit_messages(location, slice, MessageDirection::Sent, [&](std::uint32_t number, const TracedMessage& message) {
                        if (is_written(location, number, message))
                            archive_.check(OTF2_EvtWriter_MpiSend(writer, nullptr, at(slice.begin_ns), message.partner, communicator(message.communicator),
                                                                  static_cast<std::uint32_t>(message.tag), message.bytes));
                    });
                },
                [&](const EventSlice& slice) {
                    visit_messages(location, slice, MessageDirection::Received, [&](std::uint32_t number, const TracedMessage& message) {
                        if (is_written(location, number, message))
                            archive_.check(OTF2_EvtWriter_MpiRecv(writer, nullptr, at(slice.end_ns), message.partner, communicator(message.communicator),
                                                                  static_cast<std::uint32_t>(message.tag), message.bytes));
                    });
                    archive_.check(OTF2_EvtWriter_Leave(writer, nullptr, at(slice.end_ns), region_of(slice, location.events)));
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
        archive_.check(OTF2_GlobalDefWriter_WriteClockProperties(writer, ns_a_second, 0, end_ + 1, OTF2_UNDEFINED_TIMESTAMP));
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
        write_communicators(writer, none);
    }

    /// Machines, ranks and threads.
    void write_system(OTF2_GlobalDefWriter* writer) {
        std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
        archive_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, 0, archive_.text("job"), archive_.text("machine"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
        std::map<std::uint32_t, bool> has_group;
        for (std::size_t i = 0; i < locations_.size(); ++i) {
            const Location& location = *locations_[i];
            const auto info = profile_.ranks.find(location.rank);
            const std::string host = info == profile_.ranks.end() || info->second.host.empty() ? "unknown host" : info->second.host;
            const auto [node, is_new] = hosts.emplace(host, static_cast<OTF2_SystemTreeNodeRef>(hosts.size() + 1));
            if (is_new) archive_.check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, node->second, archive_.text(host), archive_.text("node"), 0));
            if (!std::exchange(has_group[location.rank], true))
                archive_.check(OTF2_GlobalDefWriter_WriteLocationGroup(writer, location.rank, archive_.text(location_name(location.rank, 0)),
                                                                       OTF2_LOCATION_GROUP_TYPE_PROCESS, node->second, OTF2_UNDEFINED_LOCATION_GROUP));
            archive_.check(OTF2_GlobalDefWriter_WriteLocation(writer, position(location), archive_.text(location_name(location.rank, location.thread)),
                                                              OTF2_LOCATION_TYPE_CPU_THREAD, events_[i], location.rank));
        }
    }

    void write_communicators(OTF2_GlobalDefWriter* writer, OTF2_StringRef none) {
        std::vector<std::uint64_t> mains; // by rank; a rank that is not there has the number of none
        for (const Location* location : locations_) {
            if (location->thread != 0) continue;
            mains.resize(std::max<std::size_t>(mains.size(), location->rank + std::size_t{1}), OTF2_UNDEFINED_LOCATION);
            mains[location->rank] = position(*location);
        }
        if (communicators_.empty()) return;
        const auto count = static_cast<std::uint32_t>(mains.size());
        std::vector<std::uint64_t> all(count);
        for (std::uint32_t i = 0; i < count; ++i) all[i] = i;
        archive_.check(
            OTF2_GlobalDefWriter_WriteGroup(writer, 0, none, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, count, mains.data()));
        archive_.check(OTF2_GlobalDefWriter_WriteGroup(writer, 1, archive_.text("MPI_COMM_WORLD"), OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                                       OTF2_GROUP_FLAG_NONE, count, all.data()));
        for (const auto& [hash, number] : communicators_) {
            const std::string name = hash == 0 ? "MPI_COMM_WORLD" : fmt::format("communicator {:x}, ranks of MPI_COMM_WORLD", hash);
            archive_.check(OTF2_GlobalDefWriter_WriteComm(writer, number, archive_.text(name), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
        }
    }

    const Profile& profile_;
    ChosenEvents chosen_;
    ClockAxis axis_;
    Otf2Archive archive_;
    std::vector<const Location*> locations_;
    std::vector<std::uint64_t> events_; // by location
    std::uint64_t begin_ = ~std::uint64_t{0}, end_ = 0;
    std::map<std::uint32_t, OTF2_RegionRef> regions_of_paths_;
    std::map<Region, OTF2_RegionRef> regions_;
    std::map<std::uint32_t, OTF2_CommRef> communicators_;
    std::vector<MessageEnd> written_; // senders' ends, sorted
    std::uint64_t left_out_ = 0;
};

} // namespace

Remarks write_otf2(const Profile& profile, const ExportRequest& request, Sink& sink) { return Otf2Export(profile, request).write(sink); }

} // namespace libprofile::tools
