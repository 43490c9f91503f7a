#include "tools/timeline/timeline_index.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/timeline/index_file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace libprofile::tools {

namespace {

constexpr std::size_t cached_bytes = std::size_t{128} << 20;

using Sources = std::map<std::filesystem::path, std::shared_ptr<const ByteSource>>;

IndexPlace place_of(const Location& location, const std::vector<TimelineState>& states) {
    const EventsElsewhere& block = *location.left_events;
    const Bytes bytes(reinterpret_cast<const unsigned char*>(states.data()), states.size());
    return {location.rank, location.thread, block.at, block.stored_size, block.raw_size, block.crc, checksum(bytes), 0, 0, 0};
}

Sources sources_of(const Profile& profile) {
    Sources sources;
    for (const Location& location : profile.locations)
        if (location.left_events && !sources.contains(location.left_events->file))
            sources[location.left_events->file] = std::make_shared<const FileSource>(location.left_events->file);
    return sources;
}

ReadError damaged_index() { return ReadError("the index of the timeline is damaged; start libprofile view again, which makes it again"); }

} // namespace

std::vector<TimelineState> states_of_nodes(const Profile& profile, const EventsElsewhere& block) {
    std::vector<TimelineState> states;
    for (const std::uint32_t path : *block.paths)
        states.push_back(path < profile.paths.size() ? timeline_state_of(profile, profile.paths[path]) : TimelineState::OtherMpi);
    return states;
}

std::vector<EventLeaf> IndexedRow::leaves(std::size_t group) const {
    std::optional<std::vector<EventLeaf>> leaves = decoded_leaves(read(index_.groups[group].leaves), index_.leaves_of(group));
    if (!leaves || leaves->empty() || leaves->front().cursor.time != index_.groups[group].time || leaves->back().cursor.time > index_.end_of(group))
        throw damaged_index();
    return std::move(*leaves);
}

std::vector<LeafTen> IndexedRow::tens(std::size_t place) const {
    std::optional<std::vector<LeafTen>> tens = decoded_tens(read(index_.tens[place]), index_.tens_of(place));
    const std::uint64_t begin = index_.groups[place * RowIndex::groups_of_tens].time;
    if (!tens || tens->empty() || tens->front().time != begin || tens->back().time > index_.end_of_tens(place)) throw damaged_index();
    return std::move(*tens);
}

std::vector<unsigned char> IndexedRow::read(const IndexBytes& place) const {
    std::vector<unsigned char> bytes = file_->read(place.at, place.size);
    if (bytes.size() != place.size || checksum(bytes) != place.crc) throw damaged_index();
    return bytes;
}

IndexedRows TimelineIndex::rows() const {
    IndexedRows rows;
    for (const auto& row : rows_) rows.push_back(row.get());
    return rows;
}

std::filesystem::path TimelineIndex::path_of(const Profile& profile) {
    for (const Location& location : profile.locations)
        if (location.left_events) return location.left_events->file.parent_path() / (location.left_events->file.filename().string() + ".timeline");
    return {};
}

std::shared_ptr<const TimelineIndex> TimelineIndex::read(const Profile& profile, std::shared_ptr<const ByteSource> file) {
    const std::optional<std::vector<IndexPlace>> places = read_places(*file);
    if (!places) return nullptr;
    std::map<std::pair<std::uint64_t, std::uint64_t>, const IndexPlace*> of_thread;
    for (const IndexPlace& place : *places) of_thread[{place.rank, place.thread}] = &place;
    const Sources sources = sources_of(profile);
    const auto cache = std::make_shared<FrameCache>(cached_bytes);
    const auto result = std::make_shared<TimelineIndex>();
    result->index_bytes_ = file->size();
    result->rows_.resize(profile.locations.size());
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& location = profile.locations[l];
        if (!location.left_events) continue;
        const EventsElsewhere& block = *location.left_events;
        std::vector<TimelineState> states = states_of_nodes(profile, block);
        const auto known = of_thread.find({location.rank, location.thread});
        if (known == of_thread.end() || !known->second->is_same_block(place_of(location, states))) return nullptr;
        const IndexPlace& place = *known->second;
        result->event_bytes_ += block.stored_size;
        if (place.size == 0) {
            result->notes_.push_back(fmt::format("the events of rank {} thread {} are damaged, and not shown", location.rank, location.thread));
            continue;
        }
        const std::vector<unsigned char> bytes = place.at > file->size() ? std::vector<unsigned char>() : file->read(place.at, place.size);
        if (bytes.size() != place.size || checksum(bytes) != place.crc) return nullptr;
        std::optional<RowIndex> index = RowIndex::decoded(bytes, block);
        if (!index) return nullptr;
        EventFrames frames(sources.at(block.file), block, std::move(index->frames), cache);
        result->rows_[l] = std::make_unique<const IndexedRow>(std::move(*index), std::move(frames), block, std::move(states), file);
    }
    return result;
}

std::shared_ptr<const TimelineIndex> TimelineIndex::open(const Profile& profile, const Progress& progress) {
    const std::filesystem::path path = path_of(profile);
    if (path.empty()) return nullptr;
    for (const std::filesystem::path& place : {path, cached_index(path)}) {
        std::error_code error;
        if (place.empty() || !std::filesystem::is_regular_file(place, error)) continue;
        try {
            if (auto known = read(profile, std::make_shared<const FileSource>(place))) return known;
        } catch (const ReadError&) { // it cannot be read: another one is made
        }
    }
    std::optional<IndexWriter> writer = IndexWriter::open(path);
    if (!writer) throw ReadError("there is no place for the index of the timeline");
    const Sources sources = sources_of(profile);
    std::vector<std::size_t> with_events;
    for (std::size_t l = 0; l < profile.locations.size(); ++l)
        if (profile.locations[l].left_events) with_events.push_back(l);
    std::mutex writing;
    std::size_t done = 0;
    progress(0, with_events.size());
    in_parallel(with_events.size(), [&](std::size_t i) {
        const Location& location = profile.locations[with_events[i]];
        const EventsElsewhere& block = *location.left_events;
        const std::shared_ptr<const ByteSource>& source = sources.at(block.file);
        const std::vector<TimelineState> states = states_of_nodes(profile, block);
        std::optional<BuiltRow> built;
        if (auto places = EventFrames::find(*source, block))
            built = build_row(EventFrames(source, block, std::move(*places), nullptr), location.thread, states);
        const std::lock_guard lock(writing);
        writer->add(place_of(location, states), built ? &*built : nullptr);
        progress(++done, with_events.size());
    });
    const bool is_in_memory = writer->is_in_memory();
    const std::shared_ptr<const ByteSource> file = writer->finish();
    std::shared_ptr<const TimelineIndex> index = file ? read(profile, file) : nullptr;
    if (!index) throw ReadError(fmt::format("cannot write the index of the timeline to {}; there may be no room", path.string()));
    if (is_in_memory) {
        auto noted = std::const_pointer_cast<TimelineIndex>(index);
        noted->notes_.push_back("the index of the timeline could not be kept, and is made again next time");
    }
    return index;
}

} // namespace libprofile::tools
