// The depend clauses of GCC's code, in both layouts.
#include "wrappers/openmp/depend_list.hpp"

#include <gtest/gtest.h>
#include <initializer_list>
#include <utility>
#include <vector>

namespace libprofile {

namespace {

using Needs = std::vector<std::pair<std::uintptr_t, TaskDependence>>;

Needs needs_of(std::initializer_list<std::uintptr_t> words) {
    std::vector<void*> list;
    for (const std::uintptr_t word : words) list.push_back(reinterpret_cast<void*>(word));
    Needs found;
    for_each_need(list.data(), [&](const TaskNeed& need) { found.emplace_back(reinterpret_cast<std::uintptr_t>(need.address), need.kind); });
    return found;
}

} // namespace

TEST(DependList, TheOldLayoutHasWhatIsWrittenFirst) {
    EXPECT_EQ(needs_of({3, 1, 64, 72, 80}), (Needs{{64, TaskDependence::InOut}, {72, TaskDependence::In}, {80, TaskDependence::In}}));
    EXPECT_EQ(needs_of({2, 2, 64, 72}), (Needs{{64, TaskDependence::InOut}, {72, TaskDependence::InOut}}));
}

TEST(DependList, TheNewLayoutHasKindsOneAfterAnother) {
    EXPECT_EQ(needs_of({0, 4, 1, 2, 1, 64, 72, 80, 88}),
              (Needs{{64, TaskDependence::InOut}, {72, TaskDependence::MutexInOutSet}, {80, TaskDependence::MutexInOutSet}, {88, TaskDependence::In}}));
    EXPECT_EQ(needs_of({0, 0, 0, 0, 0}), Needs{});
}

TEST(DependList, ObjectsHaveAnAddressAndAKind) {
    const std::uintptr_t out[2] = {64, 2}, set[2] = {72, 5}, none[2] = {80, 0}, unknown[2] = {88, 6};
    EXPECT_EQ(needs_of({0, 5, 1, 0, 0, 8, reinterpret_cast<std::uintptr_t>(out), reinterpret_cast<std::uintptr_t>(set), reinterpret_cast<std::uintptr_t>(none),
                        reinterpret_cast<std::uintptr_t>(unknown)}),
              (Needs{{8, TaskDependence::InOut}, {64, TaskDependence::Out}, {72, TaskDependence::InOutSet}}));
}

} // namespace libprofile
