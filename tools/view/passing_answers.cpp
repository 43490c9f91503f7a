#include "tools/view/passing_answers.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

SelectedTimes times_of(const IndexedRows& rows, const std::vector<PassingPixels::Row>& wanted) {
    SelectedTimes times;
    times.spans.resize(rows.size());
    for (const PassingPixels::Row& row : wanted) times.spans[row.location] = {whole_ns(row.from), whole_ns(std::ceil(row.to))};
    return times;
}

std::size_t kinds_of(const std::vector<TaskClasses>* classes) {
    if (classes == nullptr) return timeline_state_count;
    std::size_t kinds = 1;
    for (const TaskClasses& of_row : *classes)
        for (const std::uint8_t one : of_row) kinds = std::max<std::size_t>(kinds, one + std::size_t{1});
    return kinds;
}

} // namespace

PassingPixels::PassingPixels(const IndexedRows& rows, const PassingCalls& passing, const std::vector<Row>& wanted, std::size_t pixels,
                             const std::vector<TaskClasses>* classes)
    : scan_(rows, passing, times_of(rows, wanted), classes) {
    const std::size_t kinds = kinds_of(classes);
    for (const Row& row : wanted) sums_.try_emplace(row.location, row.from, row.to, pixels, kinds);
}

void PassingPixels::go_on(std::chrono::milliseconds time) {
    scan_.go_on(time, [&](std::uint32_t location, const PassingPiece& piece) {
        sums_.at(location).add_piece(piece.begin_ns, piece.end_ns, piece.kind, piece.call_ns);
    });
}

std::vector<PassingPixel> PassingPixels::pixels(std::uint32_t location) const {
    const PixelSums& sums = sums_.at(location);
    std::vector<PassingPixel> list(sums.count());
    for (std::size_t x = 0; x < list.size(); ++x)
        if (sums.is_some(sums.all(x))) list[x] = {true, static_cast<std::uint8_t>(sums.most(x)), sums.longest(x)};
    return list;
}

void PassingSums::go_on(std::chrono::milliseconds time) {
    scan_.go_on(time, [&](std::uint32_t location, const PassingPiece& piece) { sums_[location][piece.kind] += piece.end_ns - piece.begin_ns; });
}

} // namespace libprofile::tools
