/* For load_map_test.cpp: two libraries of one layout. */
#ifndef ADDEND
#define ADDEND 1
#endif
int small_function(int x) { return x + ADDEND; }
