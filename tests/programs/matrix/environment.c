/* Information about MPI and the process, info objects, memory. */
#include "program.h"

static void library(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    char name[MPI_MAX_PROCESSOR_NAME];
    int flag, length, version, subversion, level;
    CALL(Initialized, (&flag));
    CHECK(flag);
    CALL(Finalized, (&flag));
    CHECK(!flag);
    CALL(Query_thread, (&level));
    CHECK(level >= MPI_THREAD_FUNNELED);
    CALL(Is_thread_main, (&flag));
    CHECK(flag);
    CALL(Get_version, (&version, &subversion));
    CALL(Get_library_version, (text, &length));
    observe(text, length);
    CALL(Get_processor_name, (name, &length));
    observe(name, length);
    CALL(Pcontrol, (1));
    CALL(Pcontrol, (2, "ignored"));
}

#ifdef HAS_FUNCTIONS_OF_MPI_4_1
static void later(void) {
    MPI_Info hardware;
    MPI_Status status;
    MPI_Count many;
    int class, code;
    CALL(Get_hw_resource_info, (&hardware));
    CALL(Info_free, (&hardware));
    CALL(Add_error_class, (&class));
    CALL(Add_error_code, (class, &code));
    CALL(Add_error_string, (code, "of our own"));
    CALL(Remove_error_string, (code));
    CALL(Remove_error_code, (code));
    CALL(Remove_error_class, (class));
    CALL(Status_set_elements_c, (&status, MPI_INT, 9));
    CALL(Get_count_c, (&status, MPI_INT, &many));
    CHECK(many == 9);
}
#endif

static void infos(void) {
    MPI_Info info, copy;
    char key[MPI_MAX_INFO_KEY + 1], value[64];
    int count, length, flag;
    CALL(Info_create, (&info));
    CALL(Info_set, (info, "colour", "green"));
    CALL(Info_set, (info, "size", "12"));
    CALL(Info_get, (info, "colour", 63, value, &flag));
    CHECK(flag && strcmp(value, "green") == 0);
    CALL(Info_get_valuelen, (info, "size", &length, &flag));
    CHECK(flag && length == 2);
    CALL(Info_get_nkeys, (info, &count));
    CALL(Info_get_nthkey, (info, 0, key));
    observe(key, strlen(key));
    CALL(Info_dup, (info, &copy));
    CALL(Info_delete, (copy, "size"));
#ifdef HAS_FUNCTIONS_OF_MPI_4
    length = sizeof value;
    CALL(Info_get_string, (info, "colour", &length, value, &flag));
    CHECK(flag && length == 6);
    MPI_Info environment;
    CALL(Info_create_env, (0, NULL, &environment));
    CALL(Info_free, (&environment));
#endif
    CALL(Info_free, (&copy));
    CALL(Info_free, (&info));
}

static void memory(void) {
    void* space;
    CALL(Alloc_mem, (4096, MPI_INFO_NULL, &space));
    memset(space, 1, 4096);
    CALL(Free_mem, (space));
}

/* Windows have names and infos, too. */
static void windows(void) {
    MPI_Win win;
    MPI_Info info;
    MPI_Group group;
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    CALL(Win_create, (in, 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CALL(Win_set_name, (win, "a window"));
    CALL(Win_get_name, (win, name, &length));
    observe(name, length);
    CALL(Win_get_info, (win, &info));
    CALL(Win_set_info, (win, info));
    CALL(Info_free, (&info));
    CALL(Win_get_group, (win, &group));
    CALL(Group_size, (group, &length));
    CHECK(length == ranks);
    CALL(Group_free, (&group));
    CALL(Win_free, (&win));
}

int main(int argc, char** argv) {
    int provided;
    logged("MPI_Init_thread", MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), __LINE__);
    CALL(Comm_rank, (MPI_COMM_WORLD, &rank));
    CALL(Comm_size, (MPI_COMM_WORLD, &ranks));
    library();
#ifdef HAS_FUNCTIONS_OF_MPI_4_1
    later();
#endif
    infos();
    memory();
    windows();
    return end("environment");
}
