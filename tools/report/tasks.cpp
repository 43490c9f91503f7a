#include "tools/report/tasks.hpp"

#include "tools/names/labels.hpp"
#include "tools/report/rows.hpp"
#include "tools/report/task_place_rows.hpp"
#include "tools/report/task_words.hpp"
#include "tools/text/phrases.hpp"
#include "tools/timeline/passing_events.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace libprofile::tools {

namespace {

constexpr std::size_t task_rows_shown = 10, task_depths_shown = 20, bar_columns = 30;

/// A graph, and what it is of.
struct NamedTaskGraph {
    std::uint32_t rank = 0;
    const TaskStretch* stretch = nullptr; // null: all that was chosen
    std::string where;
    TaskGraph graph;
    TaskPlaces places;
};

class TaskReport {
  public:
    TaskReport(const Profile& profile, const ReportChoice& choice, const SelectionForm& form)
        : profile_(profile), choice_(choice), form_(form), found_(find_choice(profile, choice)), document_(document_of(profile, choice)),
          passing_(profile, choice.events) {}

    ReportDocument document() {
        document_.facts.push_back("tasks of OpenMP" + (scope().empty() ? "" : ", " + scope()));
        declare_tables();
        for (const auto& [rank, info] : profile_.ranks)
            if (choice_.ranks.empty() || std::binary_search(choice_.ranks.begin(), choice_.ranks.end(), rank)) add_rank(rank);
        if (ranks_.rows.empty()) throw SelectionError(nothing());
        if (!form_.everything) add_details(detail_);
        say(detail_);
        if (passing_.is_active())
            document_.warnings.push_back(passing_.left_out(passed_, all_, "tasks") +
                                         "; that holds for types, nodes and threads: work, span, depths and the critical path are of all tasks");
        const std::string where = ranks_.rows.size() == 1 ? fmt::format("rank {}", detail_.rank) : "all ranks together";
        for (const std::string& sentence : missing_tasks(missing_, where)) document_.warnings.push_back(sentence);
        for (ReportTable* table : {&ranks_, &stretches_}) shorten(*table);
        if (stretches_.rows.size() < 2 && !form_.everything) stretches_.rows.clear();
        if (ranks_.rows.size() < 2 && !form_.everything) ranks_.rows.clear();
        if (!several_nodes_ && !form_.everything) leave_out_places();
        if (!(several_nodes_ && knows_distances_) && !form_.everything) leave_out({&nodes_, &threads_, &stretches_, &ranks_}, "distance");
        for (ReportTable* table : {&depths_, &types_, &places_, &nodes_, &threads_, &steps_, &stretches_, &ranks_})
            if (form_.everything || !table->rows.empty()) document_.tables.push_back(std::move(*table));
        return std::move(document_);
    }

  private:
    /// All memory is near, as far as is known.
    void leave_out_places() {
        nodes_.rows.clear();
        threads_.rows.clear();
        leave_out({&types_, &stretches_, &ranks_}, "remote");
    }

    /// From text; programs have the column.
    static void leave_out(std::initializer_list<ReportTable*> tables, std::string_view key) {
        for (ReportTable* table : tables)
            for (ReportColumn& column : table->columns)
                if (column.key == key) column.label.clear();
    }

    /// The same graph for statistics: what does not pass the filter is incomplete, and counts in none.
    /// @param room for it if there is a filter
    const TaskGraph& counted(const TaskGraph& graph, TaskGraph& room) const {
        if (!passing_.is_active()) return graph;
        room = graph;
        const std::vector<bool> passes = passing_.tasks(graph);
        for (std::size_t t = 0; t < room.tasks.size(); ++t) room.tasks[t].is_complete = room.tasks[t].is_complete && passes[t];
        return room;
    }

    std::string scope() const { return scope_of(profile_, choice_, found_); }

    bool is_chosen(const TaskStretch& stretch) const {
        if (!choice_.phase && !choice_.iterations) return true;
        if (stretch.kind != PartKind::Iteration || stretch.phase != found_.phase) return false;
        return !choice_.iterations || (stretch.first >= choice_.iterations->first && stretch.first <= choice_.iterations->last);
    }

    /// Why there is nothing to show, and what to do.
    std::string nothing() const {
        const bool has_events = std::any_of(profile_.locations.begin(), profile_.locations.end(), [](const Location& l) { return l.events.stride != 0; });
        if (!has_events) return "the profile has no tasks; record them: LIBPROFILE_TRACE=events libprofile run -- PROGRAM";
        return fmt::format("there are no tasks of OpenMP in the events that were kept{}; {}", scope().empty() ? "" : " of " + scope(),
                           scope().empty() ? "LIBPROFILE_TRACE_MEMORY=64M keeps more"
                                           : "libprofile report --tasks without a choice lists the iterations that have some");
    }

    void declare_tables() {
        const std::vector<ReportColumn> sums = {{"tasks", "tasks", ColumnUnit::Count},
                                                {"work", "work", ColumnUnit::Ns},
                                                {"span", "span", ColumnUnit::Ns},
                                                {"parallelism", "parallelism", ColumnUnit::Ratio},
                                                {"outside_tasks", "outside", ColumnUnit::Ns},
                                                {"stolen", "stolen", ColumnUnit::Share},
                                                {"incomplete", "missing", ColumnUnit::Count},
                                                {"remote", "remote", ColumnUnit::Share},
                                                {"distance", "distance", ColumnUnit::Ratio},
                                                {"threads", "threads", ColumnUnit::Number},
                                                {"depths", "depths", ColumnUnit::Count}};
        ranks_ = {"ranks", "Ranks", "those with most work; their parts one after the other", {{"rank", "rank", ColumnUnit::Number}}, {}, {}, {}, 0, "ranks"};
        ranks_.columns.insert(ranks_.columns.end(), sums.begin(), sums.end());
        stretches_ = table_of_graphs("stretches", "Iterations and windows", "those with most work", "iterations");
        stretches_.columns.insert(stretches_.columns.end(), sums.begin(), sums.end());
        depths_ = table_of_graphs("depths", "Tasks by depth", "", "depths");
        depths_.columns.insert(depths_.columns.end(), {{"depth", "", ColumnUnit::Number},
                                                       {"", "depth", ColumnUnit::Text},
                                                       {"tasks", "tasks", ColumnUnit::Count},
                                                       {"time", "time", ColumnUnit::Ns},
                                                       {"", "at once", ColumnUnit::Count},
                                                       {"", "shape", ColumnUnit::Text}});
        types_ = table_of_graphs("types", "Types of tasks", "own time, without other tasks and without waits for them", "types");
        types_.columns.insert(types_.columns.end(), {{"tasks", "tasks", ColumnUnit::Count},
                                                     {"time", "time", ColumnUnit::Ns},
                                                     {"least", "least", ColumnUnit::Ns},
                                                     {"median", "median", ColumnUnit::Ns},
                                                     {"most", "most", ColumnUnit::Ns},
                                                     {"stolen", "stolen", ColumnUnit::Share},
                                                     {"remote", "remote", ColumnUnit::Share},
                                                     {"distance", "", ColumnUnit::Ratio},
                                                     {"creation_to_begin", "delay", ColumnUnit::Ns},
                                                     {"ready_to_begin", "queue", ColumnUnit::Ns},
                                                     {"function", "function", ColumnUnit::Text, false, 20},
                                                     {"source", "created at", ColumnUnit::Text, false, 14}});
        places_ = table_of_graphs("critical_paths", "Critical path", "by call path; shares of the span", "call paths");
        places_.columns.insert(places_.columns.end(), {{"share", "share", ColumnUnit::Share},
                                                       {"time", "time", ColumnUnit::Ns},
                                                       {"steps", "steps", ColumnUnit::Count},
                                                       {"in", "in", ColumnUnit::Text},
                                                       {"path", "call path", ColumnUnit::Text, false, 30}});
        steps_ = table_of_graphs("critical_steps", "", "", "steps");
        steps_.columns.insert(steps_.columns.end(), {{"task", "", ColumnUnit::Number},
                                                     {"thread", "", ColumnUnit::Number},
                                                     {"piece", "", ColumnUnit::Number},
                                                     {"time", "", ColumnUnit::Ns},
                                                     {"function", "", ColumnUnit::Text},
                                                     {"source", "", ColumnUnit::Text}});
        declare_places();
    }

    void declare_places() {
        nodes_ = table_of_graphs("node_accesses", "Memory of NUMA nodes", "accesses by depend clauses", "pairs of nodes");
        threads_ = table_of_graphs("thread_accesses", "Remote accesses by thread", "", "threads");
        const std::vector<ReportColumn> of_nodes = node_columns(), of_threads = access_columns();
        nodes_.columns.insert(nodes_.columns.end(), of_nodes.begin(), of_nodes.end());
        threads_.columns.insert(threads_.columns.end(), of_threads.begin(), of_threads.end());
    }

    static ReportTable table_of_graphs(const char* key, const char* title, const char* remark, const char* rows) {
        const bool is_about_graphs = std::string(key) == "stretches"; // the others are of one graph, as text
        return {key,
                title,
                remark,
                {{"rank", is_about_graphs ? "rank" : "", ColumnUnit::Number},
                 {"kind", "", ColumnUnit::Text},
                 {"first", "", ColumnUnit::Number},
                 {"last", "", ColumnUnit::Number},
                 {"", is_about_graphs ? "part" : "", ColumnUnit::Text, false, 16}},
                {},
                {},
                {},
                0,
                rows};
    }
    static std::vector<ReportValue> begin_of_row(const NamedTaskGraph& named) {
        const TaskStretch* s = named.stretch;
        const std::uint64_t base = s != nullptr && s->kind == PartKind::Iteration ? 1 : 0;
        if (s == nullptr) return {std::uint64_t{named.rank}, std::string("all"), {}, {}, std::string("all")};
        return {std::uint64_t{named.rank}, std::string(base == 1 ? "iteration" : "window"), s->first + base, s->last + base, stretch_words(*s)};
    }
    static void add_sums(std::vector<ReportValue>& row, const NamedTaskGraph& named) {
        const TaskGraph& g = named.graph;
        const std::vector<ReportValue> sums = {g.complete_tasks,
                                               g.work_ns,
                                               g.span_ns,
                                               g.parallelism(),
                                               g.implicit_ns,
                                               task_share(g.stolen_tasks, g.complete_tasks),
                                               g.incomplete() + g.created_elsewhere,
                                               remote_share(named.places.all),
                                               mean_distance(named.places.all),
                                               std::uint64_t{g.locations.size()},
                                               std::uint64_t{g.depths.size()}};
        row.insert(row.end(), sums.begin(), sums.end());
    }

    void add_rank(std::uint32_t rank) {
        std::vector<TaskStretch> stretches = task_stretches(profile_, rank);
        std::erase_if(stretches, [&](const TaskStretch& stretch) { return !is_chosen(stretch); });
        if (stretches.empty()) return;
        NamedTaskGraph all{
            rank,
            nullptr,
            fmt::format("{} of rank {}", plural(stretches.size(), stretches.front().kind == PartKind::Iteration ? "iteration" : "stretch"), rank),
            task_graph(profile_, parts_of(stretches)),
            {}};
        TaskGraph room;
        const TaskGraph& passing = counted(all.graph, room);
        all_ += all.graph.complete_tasks;
        passed_ +=
            static_cast<std::uint64_t>(std::count_if(passing.tasks.begin(), passing.tasks.end(), [](const TaskGraph::Task& t) { return t.is_complete; }));
        all.places = task_places(profile_, rank, passing);
        several_nodes_ = several_nodes_ || all.places.has_several_nodes();
        knows_distances_ = knows_distances_ || all.places.all.measured != 0;
        if (stretches.size() == 1) all.stretch = &stretches.front(), all.where = fmt::format("{} of rank {}", stretch_words(stretches.front()), rank);
        ranks_.rows.push_back({std::uint64_t{rank}});
        add_sums(ranks_.rows.back(), all);
        add_missing(all.graph);
        for (const std::string& sentence : missing_pages(profile_.ranks.at(rank), fmt::format("rank {}", rank))) document_.warnings.push_back(sentence);
        std::uint64_t incomplete = 0;
        NamedTaskGraph longest;
        const std::uint64_t work = all.graph.work_ns;
        for (const TaskStretch& stretch : stretches) {
            const bool is_only = stretches.size() == 1;
            NamedTaskGraph one{rank, &stretch, fmt::format("{} of rank {}", stretch_words(stretch), rank), {}, {}};
            if (!is_only) {
                one.graph = task_graph(profile_, stretch.parts);
                one.places = task_places(profile_, rank, counted(one.graph, room));
            }
            const NamedTaskGraph& named = is_only ? all : one;
            stretches_.rows.push_back(begin_of_row(named));
            add_sums(stretches_.rows.back(), named);
            incomplete += named.graph.incomplete() + named.graph.created_elsewhere;
            if (form_.everything) add_details(named);
            if (!is_only && (longest.stretch == nullptr || one.graph.work_ns > longest.graph.work_ns)) longest = std::move(one);
        }
        if (!detail_.where.empty() && work <= detail_work_) return;
        detail_work_ = work;
        // Tasks that go on from one iteration to the next are whole only in the graph of all.
        const bool takes_all = longest.stretch == nullptr || incomplete > all.graph.incomplete() + all.graph.created_elsewhere;
        detail_ = std::move(takes_all ? all : longest);
        if (detail_.stretch != nullptr) {
            kept_ = *detail_.stretch;
            detail_.stretch = &kept_;
        }
    }

    void add_missing(const TaskGraph& graph) {
        for (const auto count : {&TaskGraph::not_run, &TaskGraph::partly_run, &TaskGraph::contradictory, &TaskGraph::created_elsewhere, &TaskGraph::repeated,
                                 &TaskGraph::backward, &TaskGraph::of_unknown_creators, &TaskGraph::outside_regions})
            missing_.*count += graph.*count;
    }

    void say(const NamedTaskGraph& named) {
        std::vector<std::string> sentences = task_sentences(profile_, named.graph, task_types(profile_, named.graph), named.where);
        for (std::string& sentence : place_sentences(named.places)) sentences.push_back(std::move(sentence));
        for (std::size_t i = 0; i < sentences.size(); ++i) document_.findings.emplace_back(i == 0 ? "How parallel the tasks are" : "", sentences[i]);
        const std::string iterations =
            named.stretch != nullptr && named.stretch->kind == PartKind::Iteration ? fmt::format(" --iterations {}", named.stretch->first + 1) : "";
        document_.hints.push_back(
            fmt::format("libprofile export {} --format dot --rank {}{}    the graph, for Graphviz", form_.folder, named.rank, iterations));
        if (ranks_.rows.size() > 1 || stretches_.rows.size() > 1)
            document_.hints.push_back(
                fmt::format("libprofile report {} --tasks --rank R{}    another part", form_.folder, iterations.empty() ? "" : " --iterations N"));
    }

    void add_details(const NamedTaskGraph& named) {
        add_depths(named);
        add_types(named);
        add_critical_path(named);
        add_rows(nodes_, named, node_rows(named.places));
        add_rows(threads_, named, access_rows(profile_, named.places));
        for (ReportTable* table : {&depths_, &types_, &places_, &nodes_, &threads_})
            if (!form_.everything) table->remark = named.where + (table->remark.empty() ? "" : ": " + table->remark);
    }

    static void add_rows(ReportTable& table, const NamedTaskGraph& named, const std::vector<std::vector<ReportValue>>& rows) {
        for (const std::vector<ReportValue>& cells : rows) {
            std::vector<ReportValue> row = begin_of_row(named);
            row.insert(row.end(), cells.begin(), cells.end());
            table.rows.push_back(std::move(row));
        }
    }

    void add_depths(const NamedTaskGraph& named) {
        const std::vector<TaskGraph::Depth>& depths = named.graph.depths;
        const std::size_t wanted = choice_.top != 0 ? choice_.top : task_depths_shown;
        const std::size_t together = form_.everything ? 1 : std::max<std::size_t>(1, (depths.size() + wanted - 1) / wanted);
        std::vector<TaskGraph::Depth> sums;
        double most = 0;
        for (std::size_t d = 0; d < depths.size(); ++d) {
            if (d % together == 0) sums.emplace_back();
            sums.back().tasks += depths[d].tasks;
            sums.back().ns += depths[d].ns;
        }
        const auto at_once = [&](std::size_t i) {
            return static_cast<double>(sums[i].tasks) / static_cast<double>(std::min(together, depths.size() - i * together));
        };
        for (std::size_t i = 0; i < sums.size(); ++i) most = std::max(most, at_once(i));
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const std::size_t first = i * together, last = std::min(first + together, depths.size()) - 1;
            std::vector<ReportValue> row = begin_of_row(named);
            const auto bar = static_cast<std::size_t>(std::lround(at_once(i) / most * static_cast<double>(bar_columns)));
            const std::vector<ReportValue> cells = {std::uint64_t{first}, first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last),
                                                    sums[i].tasks,        sums[i].ns,
                                                    at_once(i),           std::string(bar, '#')};
            row.insert(row.end(), cells.begin(), cells.end());
            depths_.rows.push_back(std::move(row));
        }
    }

    void add_types(const NamedTaskGraph& named) {
        std::size_t shown = 0;
        TaskGraph room;
        const TaskTypes types = task_types(profile_, counted(named.graph, room));
        std::vector<TaskPlaces::Sums> accesses(types.types.size());
        for (std::size_t t = 0; t < types.of_task.size(); ++t) accesses[types.of_task[t]].add(named.places.of_task[t]);
        for (std::size_t i = 0; i < types.types.size(); ++i) {
            const TaskType& type = types.types[i];
            if (type.tasks == 0) continue;
            if (!form_.everything && shown++ >= limit()) {
                ++types_.left_out;
                continue;
            }
            std::vector<ReportValue> row = begin_of_row(named);
            const std::vector<ReportValue> cells = {type.tasks,
                                                    type.sum_ns,
                                                    type.least_ns,
                                                    type.median_ns,
                                                    type.most_ns,
                                                    task_share(type.stolen, type.tasks),
                                                    remote_share(accesses[i]),
                                                    mean_distance(accesses[i]),
                                                    type.creation_to_begin_ns,
                                                    type.ready_to_begin_ns,
                                                    printable(type.function),
                                                    printable(type.source)};
            row.insert(row.end(), cells.begin(), cells.end());
            types_.rows.push_back(std::move(row));
        }
    }

    void add_critical_path(const NamedTaskGraph& named) {
        std::size_t shown = 0;
        for (const CriticalPlace& place : critical_places(named.graph)) {
            if (!form_.everything && shown++ >= limit()) {
                ++places_.left_out;
                continue;
            }
            std::vector<ReportValue> row = begin_of_row(named);
            const std::vector<ReportValue> cells = {task_share(place.ns, named.graph.span_ns), place.ns, place.steps,
                                                    std::string(place.is_implicit ? "outside" : "task"), call_path_words(place.path)};
            row.insert(row.end(), cells.begin(), cells.end());
            places_.rows.push_back(std::move(row));
        }
        if (!form_.everything) return;
        for (const TaskGraph::Step& step : named.graph.critical_path) {
            const bool is_implicit = step.task == TaskGraph::none;
            const TaskPlace place = task_place(profile_, step.path);
            std::vector<ReportValue> row = begin_of_row(named);
            const std::vector<ReportValue> cells = {is_implicit ? ReportValue() : named.graph.tasks[step.task].number,
                                                    is_implicit ? ReportValue(std::uint64_t{profile_.locations[step.location].thread}) : ReportValue(),
                                                    std::uint64_t{step.piece},
                                                    step.ns,
                                                    printable(place.function),
                                                    printable(place.source)};
            row.insert(row.end(), cells.begin(), cells.end());
            steps_.rows.push_back(std::move(row));
        }
    }

    /// "main > solve > block() seidel.c:40".
    std::string call_path_words(std::uint32_t path) const {
        if (path == 0 || path >= profile_.paths.size()) return "(no call path)";
        std::vector<std::uint32_t> nodes;
        for (std::uint32_t p = path; p != 0; p = profile_.paths[p].parent) nodes.push_back(p);
        const auto innermost = std::find_if(nodes.begin(), nodes.end(), [&](std::uint32_t node) { return is_code(profile_.paths[node].kind); });
        std::string words;
        for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
            const CallPath& node = profile_.paths[*at];
            const Label label = label_of(profile_, node);
            std::string name = printable(is_code(node.kind) ? short_function_name(label.name) : label.name);
            if (innermost != nodes.end() && *at == *innermost && !label.file.empty())
                name += fmt::format(" {}:{}", printable(base_name(label.file)), label.line);
            words += (words.empty() ? "" : " > ") + name;
        }
        return words;
    }

    std::size_t limit() const { return choice_.top != 0 ? choice_.top : task_rows_shown; }

    /// The rows with most work, if a person reads them.
    void shorten(ReportTable& table) const {
        const auto work = static_cast<std::size_t>(
            std::find_if(table.columns.begin(), table.columns.end(), [](const ReportColumn& column) { return column.key == "work"; }) - table.columns.begin());
        if (form_.everything) return;
        std::stable_sort(table.rows.begin(), table.rows.end(),
                         [&](const auto& a, const auto& b) { return std::get<std::uint64_t>(a[work]) > std::get<std::uint64_t>(b[work]); });
        table.left_out = table.rows.size() - std::min(limit(), table.rows.size());
        table.rows.resize(table.rows.size() - table.left_out);
    }

    const Profile& profile_;
    const ReportChoice& choice_;
    const SelectionForm& form_;
    FoundChoice found_;
    ReportDocument document_;
    PassingEvents passing_;
    std::uint64_t all_ = 0, passed_ = 0; // complete tasks
    ReportTable ranks_, stretches_, depths_, types_, places_, nodes_, threads_, steps_;
    bool several_nodes_ = false, knows_distances_ = false;
    NamedTaskGraph detail_; // the rank, and its stretch, with most work
    TaskStretch kept_;      // that of detail_
    std::uint64_t detail_work_ = 0;
    TaskGraph missing_; // counts only, of all ranks
};

} // namespace

ReportDocument task_report(const Profile& profile, const ReportChoice& choice, const SelectionForm& form) {
    return TaskReport(profile, choice, form).document();
}

} // namespace libprofile::tools
