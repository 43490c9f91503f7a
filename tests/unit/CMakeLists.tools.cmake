# Unit tests of tools/; included by the tests' CMakeLists.
find_package(nlohmann_json REQUIRED)
# It simulates millions of iterations.
set_source_files_properties(tools_sample_coverage_test.cpp PROPERTIES COMPILE_OPTIONS -O2 SKIP_UNITY_BUILD_INCLUSION ON)
# They compare with tables of all pairings, or millions of samples, or run 100,000 tasks.
set_source_files_properties(tools_task_graph_test.cpp tools_tree_alignment_test.cpp tools_tree_changes_test.cpp tools_merged_tree_test.cpp tools_sampled_difference_test.cpp
  PROPERTIES COMPILE_OPTIONS -O2 SKIP_UNITY_BUILD_INCLUSION ON)
add_executable(tools_tests ${tools_tests})
find_package(ZLIB REQUIRED)
target_link_libraries(tools_tests PRIVATE libprofile_unit_test profile_evaluation profile_timeseries profile_diagnosis profile_report profile_export profile_frames profile_import profile_comparison profile_processes profile_view profile_server profile_launch libprofile_warnings libprofile_offline
  nlohmann_json::nlohmann_json GTest::gtest GTest::gtest_main)
# The names test looks up its own functions, also in a stripped copy.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/tools_names_test.cpp PROPERTIES COMPILE_OPTIONS -g SKIP_UNITY_BUILD_INCLUSION ON)
# So does that of loops. Compiled by themselves, as names in them may be those of others.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/tools_binary_loops_test.cpp ${CMAKE_CURRENT_LIST_DIR}/tools_trace_analysis_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tools_timeseries_alignment_test.cpp ${CMAKE_CURRENT_LIST_DIR}/tools_changed_calls_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/tools_task_columns_test.cpp ${CMAKE_CURRENT_LIST_DIR}/tools_partners_test.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
pkg_check_modules(EDLIB QUIET IMPORTED_TARGET edlib-1) # a second implementation of edit distances; Debian's CMake files name a library that it leaves out
if(EDLIB_FOUND)
  target_compile_definitions(tools_tests PRIVATE HAS_EDLIB)
  target_link_libraries(tools_tests PRIVATE PkgConfig::EDLIB)
else()
  message(STATUS "Edit scripts are not compared with edlib's distances: it needs libedlib-dev")
endif()
target_link_options(tools_tests PRIVATE -Wl,--build-id)
add_executable(big_profile ${CMAKE_CURRENT_LIST_DIR}/big_profile.cpp)
target_link_libraries(big_profile PRIVATE libprofile_format libprofile_warnings)
add_cases(tools_tests 60)

# Reports and graphs of made-up programs of tasks, by the command.
add_executable(task_profile ${CMAKE_CURRENT_LIST_DIR}/task_profile.cpp)
target_link_libraries(task_profile PRIVATE libprofile_format libprofile_warnings)
if(NOT LIBPROFILE_SANITIZE)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(python ${Python3_EXECUTABLE})
  set(package)
  if(TARGET python_reader)
    set(python ${LIBPROFILE_SYSTEM_PYTHON})
    set(package ${LIBPROFILE_PYTHON_PATH})
  endif()
  add_test(NAME tasks_by_command COMMAND ${python} -B ${CMAKE_CURRENT_LIST_DIR}/tasks_command_test.py
    $<TARGET_FILE:libprofile_tool> $<TARGET_FILE:task_profile> ${package})
  set_tests_properties(tasks_by_command PROPERTIES LABELS unit TIMEOUT 60)
endif()

# Function, line and chain of inlined functions against addr2line (binutils), which reads DWARF with code of its own.
find_program(LIBPROFILE_ADDR2LINE addr2line)
find_program(LIBPROFILE_OBJDUMP objdump)
find_program(LIBPROFILE_OBJCOPY objcopy)
add_executable(names_oracle ${CMAKE_CURRENT_LIST_DIR}/names_oracle.cpp)
target_link_libraries(names_oracle PRIVATE profile_names libprofile_warnings libprofile_offline)
if(LIBPROFILE_ADDR2LINE AND LIBPROFILE_OBJDUMP AND LIBPROFILE_OBJCOPY AND NOT LIBPROFILE_SANITIZE)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME names_equal_addr2line COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_LIST_DIR}/names_oracle_test.py
    --oracle $<TARGET_FILE:names_oracle> --compiler ${CMAKE_CXX_COMPILER} --fortran ${CMAKE_Fortran_COMPILER}
    --objdump ${LIBPROFILE_OBJDUMP} --objcopy ${LIBPROFILE_OBJCOPY} --addr2line ${LIBPROFILE_ADDR2LINE}
    $<TARGET_FILE:libprofile_tool> $<TARGET_FILE:tools_tests>)
  set_tests_properties(names_equal_addr2line PROPERTIES LABELS unit TIMEOUT 120)
endif()
