// Paraver's trace of three files: kept events (LIBPROFILE_TRACE=events) as states, events and communications.
//
// A rank is a task of Paraver's, and each thread has a processor of its own, since it is not recorded where it ran. The numbers of states and the types of
// events of MPI are those of Extrae; the values of events are ours, and the .pcf file has a name for each.
// Format: "Paraver: trace file description", tools.bsc.es; paraver-kernel's reader of it.
#include "tools/export/event_rows.hpp"
#include "tools/export/formats.hpp"
#include "tools/export/location_name.hpp"
#include "tools/export/paraver_states.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <tuple>
#include <utility>

namespace libprofile::tools {

namespace {

// Types of events. Those of MPI are Extrae's.
enum EventType : std::uint32_t {
    PointToPoint = 50000001,
    Collective = 50000002,
    OtherMpi = 50000003,
    CommunicatorOf = 50100004, // of a collective operation
    OpenMp = 63000001,
    Region = 63000002,
    Task = 63000003,
    TaskNumber = 63000004,
    TaskCreated = 63000005,
    Duration = 63000006,
    OperationNumber = 63000007,
    FirstIteration = 63100000, // of the first phase; one more for each further one
};

class ParaverTrace {
  public:
    ParaverTrace(const Profile& profile, const ExportRequest& request) : profile_(profile), rows_(profile, request.choice) {
        for (const Location* location : rows_.locations()) {
            Row row;
            const auto [task, is_new_task] = threads_.try_emplace(location->rank, 0);
            row.task = static_cast<std::uint32_t>(std::distance(threads_.begin(), task)) + 1;
            row.thread = ++task->second;
            if (is_new_task) hosts_of_tasks_.push_back(hosts_.try_emplace(rows_.host(location->rank), std::vector<std::uint32_t>{}).first->first);
            hosts_[rows_.host(location->rank)].push_back(static_cast<std::uint32_t>(places_.size()));
            places_.push_back(row);
        }
        std::uint32_t processor = 0;
        for (const auto& [host, members] : hosts_)
            for (const std::uint32_t member : members) places_[member].processor = ++processor;
    }

    Remarks write(Sink& sink) {
        for (std::uint32_t row = 0; row < places_.size(); ++row) add_events(row);
        add_communications();
        // Equal times stay in the order in which they were added: a thread leaves a call before it enters the next.
        std::stable_sort(records_.begin(), records_.end(),
                         [](const Record& a, const Record& b) { return std::pair(a.time, a.kind) < std::pair(b.time, b.kind); });
        std::string text = header();
        for (const Record& record : records_) {
            add_line(record, text);
            if (text.size() < std::size_t{1} << 20) continue;
            sink.add("trace.prv", text);
            text.clear();
        }
        sink.add("trace.prv", text);
        sink.add("trace.pcf", labels());
        sink.add("trace.row", row_names());
        return rows_.remarks();
    }

  private:
    /// Numbers from 1.
    struct Row {
        std::uint32_t task = 0, thread = 0, processor = 0;
    };
    enum class Kind : std::uint8_t { State = 1, Event = 2, Communication = 3 };
    struct Record {
        std::uint64_t time = 0;
        Kind kind = Kind::State;
        std::uint32_t row = 0;
        std::uint64_t first = 0;  // State: its end. Event: its type. Communication: position in communications_
        std::uint64_t second = 0; // State: ParaverState. Event: its value
    };
    struct Communication {
        std::uint32_t sender = 0, receiver = 0; // rows
        std::uint64_t sent = 0, receive_begin = 0, received = 0, bytes = 0;
        std::int32_t tag = 0;
        bool is_sent = false, is_received = false;
    };

    /// The state that is on top, from one change to the next.
    class States {
      public:
        States(std::vector<Record>& records, std::uint32_t row) : records_(records), row_(row) {}
        void push(std::uint64_t time, ParaverState state) {
            end(time);
            open_.push_back(state);
        }
        void pop(std::uint64_t time) {
            end(time);
            open_.pop_back();
        }
        ParaverState top() const { return open_.empty() ? ParaverState::NotTraced : open_.back(); }
        void end(std::uint64_t time) {
            if (time <= since_) return;
            records_.push_back({since_, Kind::State, row_, time, static_cast<std::uint64_t>(top())});
            since_ = time;
        }

      private:
        std::vector<Record>& records_;
        std::uint32_t row_;
        std::uint64_t since_ = 0;
        std::vector<ParaverState> open_;
    };

    void add_events(std::uint32_t row) {
        const Location& location = *rows_.locations()[row];
        States states(records_, row);
        const auto event = [&](std::uint64_t time, std::uint32_t type, std::uint64_t value) { records_.push_back({time, Kind::Event, row, type, value}); };
        for (const EventPart& part : location.events.parts) {
            if (!rows_.chosen().is_chosen(part)) continue;
            const std::uint64_t begin = rows_.time(location, part.begin_ns), end = rows_.time(location, part.end_ns);
            states.push(begin, rows_.chosen().is_outside_chosen(location) ? ParaverState::Running : ParaverState::NotTraced);
            if (is_iteration(part)) event(begin, type_of_phase(part.phase), part.number + 1);
            rows_.chosen().visit(
                location, part,
                [&](const EventSlice& slice) {
                    const std::uint64_t at = rows_.time(location, slice.begin_ns);
                    if (slice.kind == EventSlice::Kind::TaskCreation) return event(at, TaskCreated, task_of(location.events, slice));
                    states.push(at, state_of(location, slice, states.top()));
                    event(at, type_of(location, slice), value_of(location, slice));
                    if (slice.kind == EventSlice::Kind::TaskRun) event(at, TaskNumber, task_of(location.events, slice));
                    if (const CollectiveOperation* operation = rows_.collective(location, slice)) {
                        event(at, CommunicatorOf, number_of(operation->communicator));
                        event(at, OperationNumber, operation->number);
                    }
                    note_messages(location, row, slice, MessageDirection::Sent, at, at);
                },
                [&](const EventSlice& slice) {
                    if (slice.kind == EventSlice::Kind::TaskCreation) return;
                    const std::uint64_t at = rows_.time(location, slice.end_ns);
                    states.pop(at);
                    if (slice.kind == EventSlice::Kind::TaskRun) event(at, TaskNumber, 0);
                    event(at, type_of(location, slice), 0);
                    event(at, Duration, slice.own_ns);
                    note_messages(location, row, slice, MessageDirection::Received, rows_.time(location, slice.begin_ns), at);
                });
            if (is_iteration(part)) {
                event(end, type_of_phase(part.phase), 0);
                event(end, Duration, part.end_ns - part.begin_ns);
            }
            states.pop(end);
        }
        states.end(rows_.end());
    }

    void note_messages(const Location& location, std::uint32_t row, const EventSlice& slice, MessageDirection direction, std::uint64_t begin,
                       std::uint64_t end) {
        for (const TracedMessage& message : ChosenEvents::messages(location.events, slice)) {
            const std::uint64_t pair = rows_.pair(location, message);
            if (message.direction != direction || pair == 0) continue;
            Communication& one = communications_[pair];
            if (direction == MessageDirection::Sent) {
                std::tie(one.sender, one.sent, one.bytes, one.tag, one.is_sent) = std::tuple(row, begin, message.bytes, message.tag, true);
            } else {
                std::tie(one.receiver, one.receive_begin, one.received, one.is_received) = std::tuple(row, begin, end, true);
            }
        }
    }
    void add_communications() {
        for (const auto& [pair, one] : communications_)
            if (one.is_sent && one.is_received) records_.push_back({one.sent, Kind::Communication, one.sender, pair, 0});
    }

    ParaverState state_of(const Location& location, const EventSlice& slice, ParaverState around) const {
        if (slice.kind == EventSlice::Kind::TaskRun) return ParaverState::Running;
        if (slice.kind == EventSlice::Kind::Iteration) return around;
        const CallPath& path = profile_.paths[location.events.intervals[slice.at].path];
        return paraver_state(category_of(profile_, path), label_of(profile_, path).name).value_or(around);
    }
    std::uint32_t type_of_phase(std::uint32_t phase) { return used(FirstIteration + phase); }
    std::uint32_t used(std::uint32_t type) {
        values_.try_emplace(type);
        return type;
    }
    std::uint32_t type_of(const Location& location, const EventSlice& slice) {
        if (slice.kind == EventSlice::Kind::TaskRun) return used(Task);
        if (slice.kind == EventSlice::Kind::Iteration) return type_of_phase(location.events.inners[slice.at].phase);
        const CallPath& path = profile_.paths[location.events.intervals[slice.at].path];
        if (path.kind == NodeKind::OpenMp) return used(OpenMp);
        if (!is_call(path.kind)) return used(Region);
        switch (category_of(profile_, path)) {
        case TimeCategory::MpiP2p: return used(PointToPoint);
        case TimeCategory::MpiColl:
        case TimeCategory::MpiSyncColl: return used(Collective);
        default: return used(OtherMpi);
        }
    }
    /// Of an iteration its number; of everything else that of its name.
    std::uint64_t value_of(const Location& location, const EventSlice& slice) {
        if (slice.kind == EventSlice::Kind::Iteration) return location.events.inners[slice.at].number + 1;
        const std::string name = rows_.names().name(location, slice);
        const std::uint64_t value = names_.try_emplace(name, names_.size() + 1).first->second;
        values_[type_of(location, slice)][value] = name;
        return value;
    }

    /// Of a communicator with collective operations; from 1.
    std::uint64_t number_of(std::uint32_t communicator) { return communicators_.try_emplace(communicator, communicators_.size() + 1).first->second; }
    /// A line for each communicator all of whose ranks are shown: application, number, and its tasks.
    std::vector<std::string> communicator_lines() const {
        std::vector<std::string> lines;
        for (const auto& [communicator, number] : communicators_) {
            const std::vector<std::uint32_t>* members = rows_.collectives().members(communicator);
            if (members == nullptr || std::any_of(members->begin(), members->end(), [&](std::uint32_t rank) { return !threads_.contains(rank); })) continue;
            std::string line = fmt::format("c:1:{}:{}", number, members->size());
            for (const std::uint32_t rank : *members) line += fmt::format(":{}", std::distance(threads_.begin(), threads_.find(rank)) + 1);
            lines.push_back(line + "\n");
        }
        return lines;
    }

    std::string header() const {
        const auto seconds = static_cast<std::time_t>(profile_.job.start_unix_ns / 1'000'000'000);
        std::tm utc = {};
        gmtime_r(&seconds, &utc);
        std::string processors, tasks;
        std::map<std::string, std::size_t> nodes;
        for (const auto& [host, members] : hosts_) {
            nodes.emplace(host, nodes.size() + 1);
            processors += fmt::format("{}{}", processors.empty() ? "" : ",", members.size());
        }
        std::size_t task = 0;
        for (const auto& [rank, threads] : threads_) tasks += fmt::format("{}{}:{}", tasks.empty() ? "" : ",", threads, nodes.at(hosts_of_tasks_[task++]));
        const std::vector<std::string> lines = communicator_lines();
        std::string text =
            fmt::format("#Paraver ({:02}/{:02}/{} at {:02}:{:02}):{}_ns:{}({}):1:{}({}){}\n", utc.tm_mday, utc.tm_mon + 1, utc.tm_year + 1900, utc.tm_hour,
                        utc.tm_min, rows_.end(), hosts_.size(), processors, threads_.size(), tasks, lines.empty() ? "" : fmt::format(",{}", lines.size()));
        for (const std::string& line : lines) text += line;
        return text;
    }

    std::string place(std::uint32_t row) const { return fmt::format("{}:1:{}:{}", places_[row].processor, places_[row].task, places_[row].thread); }
    void add_line(const Record& record, std::string& out) const {
        switch (record.kind) {
        case Kind::State: out += fmt::format("1:{}:{}:{}:{}\n", place(record.row), record.time, record.first, record.second); return;
        case Kind::Event: out += fmt::format("2:{}:{}:{}:{}\n", place(record.row), record.time, record.first, record.second); return;
        case Kind::Communication: break;
        }
        const Communication& one = communications_.at(record.first);
        out += fmt::format("3:{}:{}:{}:{}:{}:{}:{}:{}\n", place(one.sender), one.sent, one.sent, place(one.receiver), one.receive_begin, one.received,
                           one.bytes, one.tag);
    }

    std::string labels() const {
        std::string out = "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\n\nDEFAULT_SEMANTIC\n\n"
                          "THREAD_FUNC          State As Is\n\n\nSTATES\n";
        for (const ParaverStateRow& state : paraver_states()) out += fmt::format("{}    {}\n", static_cast<unsigned>(state.state), state.name);
        out += "\n\nSTATES_COLOR\n";
        for (const ParaverStateRow& state : paraver_states()) out += fmt::format("{}    {{{}}}\n", static_cast<unsigned>(state.state), state.colour);
        for (const auto& [type, values] : values_) {
            out += fmt::format("\n\nEVENT_TYPE\n0    {}    {}\n", type, name_of_type(type));
            if (values.empty()) continue;
            out += "VALUES\n0      End\n";
            for (const auto& [value, name] : values) out += fmt::format("{}      {}\n", value, printable(name));
        }
        out += collective_labels();
        out += fmt::format("\n\nEVENT_TYPE\n0    {}    Number of the task, from 1 in its process\n0    {}    Task created: its number\n"
                           "0    {}    Duration of what ended, in ns of its process's clock\n",
                           static_cast<unsigned>(TaskNumber), static_cast<unsigned>(TaskCreated), static_cast<unsigned>(Duration));
        return out;
    }
    std::string collective_labels() const {
        if (communicators_.empty()) return "";
        std::string out = fmt::format("\n\nEVENT_TYPE\n0    {}    Communicator in MPI Global OP\nVALUES\n", static_cast<unsigned>(CommunicatorOf));
        for (const auto& [communicator, number] : communicators_) out += fmt::format("{}      {}\n", number, rows_.collectives().name(communicator));
        return out + fmt::format("\n\nEVENT_TYPE\n0    {}    Number of the collective operation of its communicator, from 1\n",
                                 static_cast<unsigned>(OperationNumber));
    }
    std::string name_of_type(std::uint32_t type) const {
        switch (type) {
        case PointToPoint: return "MPI Point-to-point";
        case Collective: return "MPI Collective Comm";
        case OtherMpi: return "MPI Other";
        case OpenMp: return "OpenMP construct";
        case Region: return "Region";
        case Task: return "Task: its function";
        default: return fmt::format("Iteration of {}", printable(profile_.phases[type - FirstIteration].name));
        }
    }

    std::string row_names() const {
        std::string processors, nodes, tasks, threads;
        for (const auto& [host, members] : hosts_) {
            nodes += printable(host) + "\n";
            for (std::size_t i = 0; i < members.size(); ++i) processors += fmt::format("{}.{}\n", i + 1, printable(host));
        }
        for (const auto& [rank, count] : threads_) tasks += location_name(rank, 0) + "\n";
        for (const Location* location : rows_.locations()) threads += location_name(location->rank, location->thread) + "\n";
        return fmt::format("LEVEL CPU SIZE {}\n{}\nLEVEL NODE SIZE {}\n{}\nLEVEL TASK SIZE {}\n{}\nLEVEL THREAD SIZE {}\n{}", places_.size(), processors,
                           hosts_.size(), nodes, threads_.size(), tasks, places_.size(), threads);
    }

    const Profile& profile_;
    EventRows rows_;
    std::vector<Row> places_;                                 // by EventRows::locations
    std::map<std::uint32_t, std::uint32_t> threads_;          // by rank: how many
    std::map<std::string, std::vector<std::uint32_t>> hosts_; // their rows
    std::vector<std::string> hosts_of_tasks_;
    std::vector<Record> records_;
    std::map<std::uint64_t, Communication> communications_;                // by EventRows::pair
    std::map<std::uint32_t, std::uint64_t> communicators_;                 // their numbers
    std::map<std::string, std::uint64_t> names_;                           // their values
    std::map<std::uint32_t, std::map<std::uint64_t, std::string>> values_; // by type: those that occur
};

} // namespace

Remarks write_paraver(const Profile& profile, const ExportRequest& request, Sink& sink) { return ParaverTrace(profile, request).write(sink); }

} // namespace libprofile::tools
