# Unit tests of tools/; included by the tests' CMakeLists.
find_package(GTest REQUIRED)
find_package(nlohmann_json REQUIRED)
include(GoogleTest)
add_executable(tools_tests
  ${CMAKE_CURRENT_LIST_DIR}/tools_analysis_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tools_names_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tools_reader_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tools_report_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tools_run_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tools_trace_test.cpp)
target_link_libraries(tools_tests PRIVATE profile_reader libprofile_warnings libprofile_offline
  nlohmann_json::nlohmann_json GTest::gtest GTest::gtest_main)
# The names test looks up its own functions, also in a stripped copy.
target_compile_options(tools_tests PRIVATE -g)
target_link_options(tools_tests PRIVATE -Wl,--build-id)
gtest_discover_tests(tools_tests PROPERTIES LABELS unit TIMEOUT 60 DISCOVERY_TIMEOUT 30)
