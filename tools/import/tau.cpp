// TAU's text profiles: a file profile.NODE.CONTEXT.THREAD for each thread. Source: the TAU reference guide, "Profile file format".
//
// Lines are: "name" calls subroutines exclusive inclusive profile-calls GROUP="...". A name with " => " is a call path; if there are any, only
// they and their roots are taken, since the other lines have the same time once more. Times are microseconds.
#include "tools/import/file_bytes.hpp"
#include "tools/import/frame_builder.hpp"
#include "tools/import/importers.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <unordered_set>

namespace libprofile::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t tau_row_bytes = 144;

struct TauRow {
    std::string_view name;
    double calls = 0, exclusive = 0;
    bool is_path = false;
};

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// The metric of "12 templated_functions_MULTI_PAPI_TOT_CYC"; empty: time.
std::string_view counter_of(std::string_view header) {
    constexpr std::string_view word = "templated_functions_MULTI_";
    const std::size_t at = header.find(word);
    if (at == std::string_view::npos) return {};
    const std::string_view name = header.substr(at + word.size(), header.find(' ', at) - at - word.size());
    for (const std::string_view time : {"TIME", "GET_TIME_OF_DAY", "CLOCK", "LINUX_TIMERS", "WALL"})
        if (name.find(time) != std::string_view::npos) return {};
    return name;
}

std::vector<TauRow> rows_of(std::string_view text) {
    const std::string_view header = take_line(text);
    const std::size_t end = header.find(' ');
    if (end == std::string_view::npos || header.find("templated_functions") == std::string_view::npos) throw FrameError("the first line is not that of TAU");
    const std::uint64_t count = whole_number_in(header.substr(0, end));
    take_line(text); // names of the columns
    std::vector<TauRow> rows;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (text.empty()) throw FrameError("it ends early");
        const std::string_view line = take_line(text);
        // A name may have quotes itself: the numbers follow the last one before GROUP.
        const std::size_t group = line.rfind("GROUP="), quote = line.rfind('"', group == std::string_view::npos ? group : group == 0 ? 0 : group - 1);
        if (line.size() < 2 || line[0] != '"' || quote == 0 || quote == std::string_view::npos) throw FrameError(fmt::format("function {} has no name", i + 1));
        std::string_view numbers = line.substr(quote + 1, group == std::string_view::npos ? group : group - quote - 1);
        double fields[4] = {};
        for (double& field : fields) {
            numbers = trimmed(numbers);
            const std::size_t stop = std::min(numbers.find(' '), numbers.size());
            field = number_in(numbers.substr(0, stop));
            numbers.remove_prefix(stop);
        }
        const std::string_view name = line.substr(1, quote - 1);
        rows.push_back({name, fields[0], fields[2], name.find(" => ") != std::string_view::npos});
    }
    return rows;
}

std::uint32_t tau_node(FrameBuilder& builder, std::string_view path) {
    std::uint32_t node = 0;
    while (!path.empty()) {
        const std::size_t end = path.find(" => ");
        node = builder.child(node, {trimmed(path.substr(0, end))});
        path.remove_prefix(end == std::string_view::npos ? path.size() : end + 4);
    }
    return node;
}

void add_tau_thread(FrameBuilder& builder, const fs::path& file, std::uint32_t rank, std::uint32_t thread) {
    const std::string bytes = file_bytes(file, builder.memory());
    const std::vector<TauRow> rows = rows_of(bytes);
    builder.memory().take(tau_row_bytes * rows.size());
    const bool has_paths = std::any_of(rows.begin(), rows.end(), [](const TauRow& row) { return row.is_path; });
    std::unordered_set<std::string_view> called;
    for (const TauRow& row : rows)
        if (row.is_path) called.insert(trimmed(row.name.substr(row.name.rfind(" => ") + 4)));
    const auto is_root = [&](const TauRow& row) { return called.count(trimmed(row.name)) == 0; };
    std::string_view text = bytes;
    const std::string_view counter = counter_of(take_line(text));
    const std::uint32_t time = counter.empty() ? builder.metric("time", "ns") : builder.metric(counter, ""), visits = builder.metric("visits", "count"),
                        place = builder.place(rank, thread);
    for (const TauRow& row : rows) {
        if (has_paths && !row.is_path && !is_root(row)) continue;
        const std::uint32_t node = tau_node(builder, row.name);
        builder.value(time, place, node, row.exclusive * (counter.empty() ? 1000 : 1));
        builder.value(visits, place, node, row.calls);
    }
}

} // namespace

Frame read_tau(const fs::path& place) {
    std::error_code error;
    FrameBuilder builder("(program)", MemoryLimit(place));
    if (!fs::is_directory(place, error)) {
        add_tau_thread(builder, place, 0, 0);
        return std::move(builder).finish();
    }
    std::vector<std::tuple<unsigned, unsigned, unsigned, fs::path>> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(place)) {
        unsigned rank = 0, context = 0, thread = 0;
        int end = 0;
        const std::string name = entry.path().filename().string();
        if (std::sscanf(name.c_str(), "profile.%u.%u.%u%n", &rank, &context, &thread, &end) == 3 && end == static_cast<int>(name.size()))
            files.emplace_back(rank, context, thread, entry.path());
    }
    std::sort(files.begin(), files.end());
    // Contexts are processes of a node. Their threads are further ones of the rank: each has a place of its own.
    std::map<unsigned, std::uint32_t> next; // thread, by rank
    bool has_contexts = false;
    for (const auto& [rank, context, thread, file] : files) {
        const std::uint32_t number = context == 0 ? thread : next[rank];
        has_contexts |= context != 0;
        next[rank] = number + 1;
        add_tau_thread(builder, file, rank, number);
    }
    if (has_contexts) builder.note("threads of further contexts of a node are counted on, after those of the first");
    return std::move(builder).finish();
}

} // namespace libprofile::tools
