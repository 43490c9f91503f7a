#include "tools/view/task_columns.hpp"

#include "tools/names/labels.hpp"
#include "tools/timeline/task_records.hpp"

#include <algorithm>
#include <numeric>

namespace libprofile::tools {

namespace {

std::uint64_t node_of(const PageTables& tables, std::uint32_t path) { return path < tables.cells.node_of_path.size() ? tables.cells.node_of_path[path] : 0; }

std::int64_t step(std::uint64_t now, std::uint64_t before) { return static_cast<std::int64_t>(now - before); }

} // namespace

/// What is known of a rank. The tasks of the graph are those of the records, in the same order.
struct TaskColumns::Rank {
    Rank(const Profile& profile, std::uint32_t rank, const std::vector<TaskPart>& parts)
        : number(rank), info(profile.ranks.at(rank)), records(task_records(profile, parts)), graph(task_graph(profile, parts)),
          types(task_types(profile, graph)), places(task_places(profile, rank, graph)), page_number(graph.tasks.size()) {
        for (std::uint32_t t = 0; t < graph.tasks.size(); ++t) tasks_of[graph.tasks[t].location].push_back(t);
        for (const TaskRecords::Run& run : records.runs) runs_of[records.threads[run.thread].location].push_back(&run);
    }
    Rank(Rank&&) = default;

    std::uint32_t number;
    const RankInfo& info;

    TaskRecords records;
    TaskGraph graph;
    TaskTypes types;
    TaskPlaces places;
    std::map<std::uint32_t, std::vector<std::uint32_t>> tasks_of;          // by location that created them
    std::map<std::uint32_t, std::vector<const TaskRecords::Run*>> runs_of; // by location
    std::vector<std::uint32_t> type_number;                                // by type of the rank: in the page
    std::vector<std::uint64_t> page_number;                                // by task
};

TaskColumns::TaskColumns(const Profile& profile, const PageTables& tables, const ChosenParts& parts, NamedColumns& columns)
    : tables_(tables), columns_(columns), places_(profile, columns), ran_on_(profile, columns, "runs"), counts_(profile.locations.size()) {
    std::map<std::uint32_t, std::size_t> of_rank;
    std::vector<Rank> ranks;
    ranks.reserve(profile.ranks.size());
    for (const auto& [number, info] : profile.ranks) {
        std::vector<TaskPart> chosen = parts_of(task_stretches(profile, number));
        std::erase_if(chosen, [&](const TaskPart& part) { return !parts.is_in[part.location][part.part]; });
        if (chosen.empty()) continue;
        of_rank[number] = ranks.size();
        ranks.emplace_back(profile, number, chosen);
    }
    if (ranks.empty()) return;
    number_types(ranks);
    // All tasks have their numbers before one of them names its creator.
    std::uint64_t number = 0;
    for (std::uint32_t l = 0; l < profile.locations.size(); ++l) {
        const auto rank = of_rank.find(profile.locations[l].rank);
        if (rank == of_rank.end()) continue;
        Rank& one = ranks[rank->second];
        for (const std::uint32_t t : one.tasks_of[l]) one.page_number[t] = number++;
    }
    for (std::uint32_t l = 0; l < profile.locations.size(); ++l) {
        const auto rank = of_rank.find(profile.locations[l].rank);
        if (rank == of_rank.end()) continue;
        add_tasks(ranks[rank->second], l);
        add_runs(ranks[rank->second], l);
    }
}

void TaskColumns::number_types(std::vector<Rank>& ranks) {
    std::map<std::pair<std::string, std::string>, std::uint32_t> by_names;
    for (Rank& rank : ranks)
        for (const TaskType& type : rank.types.types) {
            const auto [at, is_new] = by_names.try_emplace({type.function, type.source}, static_cast<std::uint32_t>(types_.size()));
            if (is_new) types_.push_back({type.function, type.source});
            types_[at->second].ns += type.sum_ns;
            rank.type_number.push_back(at->second);
        }
    std::vector<std::uint32_t> order(types_.size()), place(types_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return types_[a].ns > types_[b].ns; });
    std::vector<Type> sorted;
    for (const std::uint32_t type : order) {
        place[type] = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(std::move(types_[type]));
    }
    types_ = std::move(sorted);
    for (Rank& rank : ranks)
        for (std::uint32_t& type : rank.type_number) type = place[type];
}

void TaskColumns::add_tasks(Rank& rank, std::uint32_t location) {
    NumberColumn &numbers = columns_.column("tasks", "numbers"), &creators = columns_.column("tasks", "creators"),
                 &created = columns_.column("tasks", "created"), &nodes = columns_.column("tasks", "nodes"), &flags = columns_.column("tasks", "flags"),
                 &types = columns_.column("tasks", "types"), &own = columns_.column("tasks", "own"), &dependences = columns_.column("tasks", "dependences"),
                 &kinds = columns_.column("dependences", "kinds"), &addresses = columns_.column("dependences", "addresses");
    std::uint64_t number = 0, time = 0, node = 0, address = 0;
    for (const std::uint32_t t : rank.tasks_of[location]) {
        const TaskGraph::Task& task = rank.graph.tasks[t];
        const TaskRecords::Task& record = rank.records.tasks[t];
        numbers.add_signed(step(task.number, number));
        number = task.number;
        // 0: the implicit task of this thread; 1: one whose creation is not there; then numbers of tasks in the page.
        const std::uint32_t creator = record.creator == 0 ? TaskRecords::none : rank.records.task_of(record.creator);
        creators.add(record.creator == 0 ? 0 : creator == TaskRecords::none ? 1 : rank.page_number[creator] + 2);
        created.add(task.created_ns - time);
        time = task.created_ns;
        nodes.add_signed(step(node_of(tables_, task.path), node));
        node = node_of(tables_, task.path);
        flags.add(task.flags);
        types.add(rank.type_number[rank.types.of_task[t]]);
        own.add(task.is_complete ? task.duration_ns + 1 : 0); // 0: not all of it is there
        dependences.add(record.dependences.size());
        for (const TracedDependence& dependence : record.dependences) {
            kinds.add(static_cast<std::uint64_t>(dependence.kind));
            addresses.add_signed(step(dependence.address, address));
            address = dependence.address;
        }
        places_.add(rank.info, rank.places.node_of_task[t], record.dependences);
        ++counts_[location].tasks;
    }
}

void TaskColumns::add_runs(Rank& rank, std::uint32_t location) {
    NumberColumn &begins = columns_.column("runs", "begins"), &lengths = columns_.column("runs", "lengths"), &tasks = columns_.column("runs", "tasks"),
                 &nodes = columns_.column("runs", "nodes"), &flags = columns_.column("runs", "flags");
    std::vector<const TaskRecords::Run*>& runs = rank.runs_of[location];
    std::stable_sort(runs.begin(), runs.end(), [](const TaskRecords::Run* a, const TaskRecords::Run* b) {
        return a->begin_ns != b->begin_ns ? a->begin_ns < b->begin_ns : a->end_ns > b->end_ns; // outer ones first
    });
    std::uint64_t begin = 0, task = 0, node = 0;
    for (const TaskRecords::Run* run : runs) {
        begins.add(run->begin_ns - begin);
        begin = run->begin_ns;
        lengths.add(run->end_ns - run->begin_ns);
        const std::uint64_t number = run->task == TaskRecords::none ? 0 : rank.page_number[run->task] + 1; // 0: created elsewhere
        tasks.add_signed(step(number, task));
        task = number;
        nodes.add_signed(step(node_of(tables_, run->path), node));
        node = node_of(tables_, run->path);
        flags.add((run->is_over ? 1u : 0u) | (run->is_resumed ? 2u : 0u));
        ran_on_.add(rank.number, run->processor);
    }
    counts_[location].runs = runs.size();
}

nlohmann::ordered_json TaskColumns::types() const {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Type& type : types_) list.push_back({{"function", printable(type.function)}, {"source", printable(type.source)}});
    return list;
}

} // namespace libprofile::tools
