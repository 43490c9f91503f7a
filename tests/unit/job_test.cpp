// What is known of a job before MPI_Init, in environments as launchers and batch systems make them. The variables are those of recorded environments,
// as far as they tell the process of its job; names of hosts and numbers are others.
#include "libprofile/base/job.hpp"
#include "libprofile/base/launcher.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/base/small_file.hpp"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>

namespace libprofile {

namespace {

using Variables = std::map<std::string, std::string>;

/// The environment of one process.
class JobEnvironment : public testing::Test {
  protected:
    void TearDown() override { clear(); }

    const Job& find(const Variables& variables) {
        clear();
        for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
        set_ = variables;
        job_ = Job();
        job_.find(arena_);
        return job_;
    }

    void expect_rank(const Variables& variables, int rank, int ranks, int local_rank, const std::string& id) {
        const Job& job = find(variables);
        EXPECT_EQ(job.launcher_rank, rank);
        EXPECT_EQ(job.launcher_ranks, ranks);
        EXPECT_EQ(number_of_launcher(&LauncherVariables::local_rank), local_rank);
        EXPECT_EQ(is_first_of_job(), rank <= 0);
        EXPECT_EQ(job.speaks_before_init(), rank <= 0);
        if (!id.empty()) {
            EXPECT_EQ(job.id, id);
        }
        char host[256] = {};
        gethostname(host, sizeof host - 1);
        EXPECT_STREQ(job.host, host);
    }

    /// All ranks have one key; with one variable changed, it is another job's.
    void expect_key(const Variables& rank, const Variables& other_rank, const std::string& variable, const std::string& value) {
        const std::string key = find(rank).key;
        EXPECT_TRUE(find(rank).key_is_of_all_hosts);
        EXPECT_EQ(find(other_rank).key, key);
        Variables other_job = rank;
        other_job[variable] = value;
        EXPECT_NE(find(other_job).key, key);
    }

    static Variables with(Variables variables, const Variables& others) {
        for (const auto& [name, value] : others) variables[name] = value;
        return variables;
    }

  private:
    void clear() {
        for (const auto& [name, value] : set_) unsetenv(name.c_str());
        for (const LauncherVariables& launcher : launchers)
            for (const char* name : {launcher.rank, launcher.ranks, launcher.local_rank})
                if (name != nullptr) unsetenv(name);
        for (const char* name : {"SLURM_PROCID", "SLURM_STEP_ID", "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID", "PMIX_NAMESPACE",
                                 "OMPI_MCA_orte_precondition_transports"})
            unsetenv(name);
    }
    Variables set_;
    Job job_;
    Arena arena_;
};

// What sbatch gives the shell of its script, also to what this shell starts by itself.
const Variables slurm_batch = {{"SLURM_JOB_ID", "8652"},  {"SLURM_JOBID", "8652"},         {"SLURM_NTASKS", "8"}, {"SLURM_NPROCS", "8"},
                               {"SLURM_PROCID", "0"},     {"SLURM_LOCALID", "0"},          {"SLURM_NODEID", "0"}, {"SLURM_GTIDS", "0"},
                               {"SLURM_TASK_PID", "431"}, {"SLURM_JOB_NODELIST", "n1,n2"}, {"SLURM_NNODES", "2"}};
const Variables slurm_step_of_five = {{"SLURM_STEP_ID", "3"},           {"SLURM_STEPID", "3"}, {"SLURM_STEP_NUM_TASKS", "5"}, {"SLURM_STEP_NUM_NODES", "2"},
                                      {"SLURM_STEP_NODELIST", "n1,n2"}, {"SLURM_NTASKS", "5"}, {"SLURM_NPROCS", "5"}};

TEST_F(JobEnvironment, ShellOfASlurmScriptIsNoRank) {
    expect_rank(slurm_batch, -1, -1, -1, "8652");
    EXPECT_FALSE(find(slurm_batch).key_is_of_all_hosts);
}

TEST_F(JobEnvironment, InteractiveStepOfSlurmIsNoRank) {
    const Variables shell = {{"SLURM_STEP_ID", "4294967290"},
                             {"SLURM_STEPID", "4294967290"},
                             {"SLURM_STEP_NUM_TASKS", "1"},
                             {"SLURM_PMI2_SRUN_PORT", "41735"},
                             {"SLURM_PMI2_STEP_NODES", "n1"}};
    expect_rank(with(slurm_batch, shell), -1, -1, -1, "8652");
}

TEST_F(JobEnvironment, RanksOfSrunWithoutPmi) {
    const auto rank = [](const char* number, const char* local) {
        return with(with(slurm_batch, slurm_step_of_five), {{"SLURM_PROCID", number}, {"SLURM_LOCALID", local}});
    };
    expect_rank(rank("4", "1"), 4, 5, 1, "8652");
    expect_rank(rank("0", "0"), 0, 5, 0, "8652");
    expect_key(rank("4", "1"), rank("0", "0"), "SLURM_STEP_ID", "4");
    expect_key(rank("4", "1"), rank("0", "0"), "SLURM_JOB_ID", "8653");
}

TEST_F(JobEnvironment, RanksOfSrunWithPmi2) {
    const auto rank = [](const char* number) {
        return with(with(slurm_batch, slurm_step_of_five), {{"SLURM_PROCID", number},
                                                            {"SLURM_LOCALID", "1"},
                                                            {"PMI_RANK", number},
                                                            {"PMI_SIZE", "5"},
                                                            {"PMI_FD", "10"},
                                                            {"PMI_JOBID", "8652.3"},
                                                            {"SLURM_PMI2_SRUN_PORT", "41735"}});
    };
    expect_rank(rank("3"), 3, 5, 1, "8652");
    expect_key(rank("3"), rank("1"), "SLURM_STEP_ID", "4");
}

TEST_F(JobEnvironment, RanksOfSrunWithPmix) {
    const auto rank = [](const char* number, const char* host) {
        return with(with(slurm_batch, slurm_step_of_five), {{"SLURM_PROCID", number},
                                                            {"SLURM_LOCALID", "0"},
                                                            {"PMIX_RANK", number},
                                                            {"PMIX_NAMESPACE", "slurm.pmix.8652.3"},
                                                            {"PMIX_HOSTNAME", host},
                                                            {"PMIX_VERSION", "5.0.3"},
                                                            {"OMPI_MCA_orte_precondition_transports", "0107632700000000-0107632700000000"}});
    };
    expect_rank(rank("2", "n2"), 2, 5, 0, "8652");
    expect_key(rank("2", "n2"), rank("0", "n1"), "PMIX_NAMESPACE", "slurm.pmix.8652.4");
}

TEST_F(JobEnvironment, OnlyRankOfSrunHasAKeyOfItsOwn) {
    const Variables shell =
        with(with(slurm_batch, slurm_step_of_five), {{"SLURM_STEP_NUM_TASKS", "1"}, {"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.8652.3"}});
    expect_rank(shell, 0, 1, 0, "8652");
    EXPECT_FALSE(find(shell).key_is_of_all_hosts); // srun --pty bash: the shell may start several programs at once
}

TEST_F(JobEnvironment, RanksOfOpenMpiWhoseDaemonsSrunStarted) {
    const Variables rank = {{"OMPI_COMM_WORLD_RANK", "6"},       {"OMPI_COMM_WORLD_SIZE", "8"},
                            {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}, {"PMIX_RANK", "6"},
                            {"PMIX_NAMESPACE", "1162018817"},    {"OMPI_MCA_orte_precondition_transports", "a063964bc33a5a32-8bbed721eecd42b6"}};
    // The daemon of another host is a task of a step. The launcher's host has the variables of the script.
    const Variables remote = with(with(with(slurm_batch, slurm_step_of_five), {{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "1"}}), rank);
    const Variables first = with(with(slurm_batch, rank), {{"OMPI_COMM_WORLD_RANK", "0"}, {"PMIX_RANK", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}});
    expect_rank(remote, 6, 8, 2, "8652");
    expect_rank(first, 0, 8, 0, "8652");
    expect_key(remote, first, "PMIX_NAMESPACE", "1162018818");
    expect_key(remote, first, "OMPI_MCA_orte_precondition_transports", "other");
}

TEST_F(JobEnvironment, RanksOfOpenMpiInPbsWhoseDaemonsSshStarted) {
    const Variables remote = {{"OMPI_COMM_WORLD_RANK", "6"},
                              {"OMPI_COMM_WORLD_SIZE", "8"},
                              {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                              {"PMIX_RANK", "6"},
                              {"PMIX_NAMESPACE", "prterun-n1-4242@1"}};
    const Variables first =
        with(remote, {{"OMPI_COMM_WORLD_RANK", "0"}, {"PMIX_RANK", "0"}, {"PBS_JOBID", "1234[5].server"}, {"PBS_NODEFILE", "/var/spool/pbs/aux/1234"}});
    expect_rank(first, 0, 8, 2, "1234_5_.server");
    expect_rank(remote, 6, 8, 2, "");
    expect_key(remote, first, "PMIX_NAMESPACE", "prterun-n1-4243@1");
}

TEST_F(JobEnvironment, RanksOfPalsInPbs) {
    const auto rank = [](const char* number, const char* local) {
        return Variables{{"PBS_JOBID", "777.aurora-pbs"},
                         {"PALS_APID", "7e6c1a02-7f5a-4e8a-9d43-0d6c4bd6a7d1"},
                         {"PALS_RANKID", number},
                         {"PALS_LOCAL_RANKID", local},
                         {"PALS_NODEID", "1"},
                         {"PALS_SPOOL_DIR", "/var/run/palsd"},
                         {"PMI_RANK", number},
                         {"PMI_SIZE", "24"},
                         {"PMI_LOCAL_RANK", local},
                         {"PMI_LOCAL_SIZE", "12"},
                         {"PMI_CONTROL_PORT", "11999"},
                         {"PMI_JOBID", "7e6c1a02-7f5a-4e8a-9d43-0d6c4bd6a7d1"}};
    };
    expect_rank(rank("13", "1"), 13, 24, 1, "777.aurora-pbs");
    expect_key(rank("13", "1"), rank("0", "0"), "PALS_APID", "another");
}

TEST_F(JobEnvironment, RanksOfAlps) {
    const auto rank = [](const char* number) {
        return Variables{{"PBS_JOBID", "55.sdb"}, {"ALPS_APP_ID", "900"}, {"ALPS_APP_PE", number}, {"ALPS_APP_DEPTH", "1"}};
    };
    expect_rank(rank("7"), 7, -1, -1, "55.sdb");
    expect_key(rank("7"), rank("0"), "ALPS_APP_ID", "901");
}

TEST_F(JobEnvironment, RanksOfFlux) {
    const auto rank = [](const char* number) {
        return Variables{{"FLUX_JOB_ID", "ƒ2Yx9"},    {"FLUX_JOB_SIZE", "4"}, {"FLUX_JOB_NNODES", "2"}, {"FLUX_TASK_RANK", number},
                         {"FLUX_TASK_LOCAL_ID", "1"}, {"PMI_RANK", number},   {"PMI_SIZE", "4"},        {"PMI_FD", "9"}};
    };
    expect_rank(rank("3"), 3, 4, 1, "__2Yx9");
    expect_key(rank("3"), rank("0"), "FLUX_JOB_ID", "ƒ2Yxa");
}

TEST_F(JobEnvironment, RanksOfJsrunInLsf) {
    const auto rank = [](const char* number) {
        return Variables{{"LSB_JOBID", "1234"},          {"LSB_JOBINDEX", "0"},        {"LSB_MCPU_HOSTS", "batch 1 n1 42 n2 42"},
                         {"JSM_NAMESPACE_RANK", number}, {"JSM_NAMESPACE_SIZE", "84"}, {"JSM_NAMESPACE_LOCAL_RANK", "41"},
                         {"PMIX_RANK", number},          {"PMIX_NAMESPACE", "7"}};
    };
    expect_rank(rank("83"), 83, 84, 41, "1234");
    expect_key(rank("83"), rank("0"), "PMIX_NAMESPACE", "8");
    expect_key(rank("83"), rank("0"), "LSB_JOBID", "1235"); // jsrun counts in each batch job
}

TEST_F(JobEnvironment, JobsOfAnArrayAreToldApart) {
    expect_rank({{"LSB_JOBID", "1234"}, {"LSB_JOBINDEX", "17"}}, -1, -1, -1, "1234_17");
    expect_rank({{"JOB_ID", "99"}, {"SGE_TASK_ID", "4"}}, -1, -1, -1, "99_4");
    expect_rank({{"JOB_ID", "99"}, {"SGE_TASK_ID", "undefined"}}, -1, -1, -1, "99");
}

TEST_F(JobEnvironment, RanksOfMvapich) {
    expect_rank({{"MV2_COMM_WORLD_RANK", "2"}, {"MV2_COMM_WORLD_SIZE", "3"}, {"MV2_COMM_WORLD_LOCAL_RANK", "1"}}, 2, 3, 1, "");
}

TEST_F(JobEnvironment, MpichInsideAnotherLaunchersShellIsTheInnermost) {
    const Variables shell =
        with(with(slurm_batch, slurm_step_of_five), {{"SLURM_STEP_NUM_TASKS", "1"}, {"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.8652.3"}});
    Variables rank = with(shell, {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "3"}, {"PMI_FD", "6"}});
    expect_rank(rank, 3, 4, 3, "8652");
    EXPECT_FALSE(find(rank).key_is_of_all_hosts); // the shell may start several jobs: neither its step nor its name in PMIx tells them apart
    rank.erase("PMIX_NAMESPACE");
    EXPECT_FALSE(find(rank).key_is_of_all_hosts);
}

TEST_F(JobEnvironment, WithoutALauncherTheKeyIsTheProcesss) {
    expect_rank({}, -1, -1, -1, "");
    EXPECT_NE(std::string_view(find({}).key).find(std::to_string(getpid())), std::string_view::npos);
}

TEST(SmallFile, TheNumberOfALineIsFoundWhereverItIs) {
    const std::string path = testing::TempDir() + "stat-" + std::to_string(getpid());
    for (std::size_t before = 3950; before < 20000; before += before < 4150 ? 3 : 5003) { // as with hundreds of processors
        std::ofstream(path) << "cpu 1\nintr btime 5" << std::string(before, '0') << "\nctxt 4\nbtime 1764312345\nprocesses 3\n";
        ASSERT_EQ(number_in_file(path.c_str(), "btime "), 1764312345) << before;
    }
    EXPECT_EQ(number_in_file(path.c_str(), "boottime "), 0);
    unlink(path.c_str());
    EXPECT_EQ(number_in_file(path.c_str(), "btime "), 0);
}

} // namespace

} // namespace libprofile
