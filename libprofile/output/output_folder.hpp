// The job's output folder: where it is, who makes it, and the small files in it.
// Contract: one thread, outside handlers; never overwrites a profile: a folder that has one gets a numbered sibling.
//
//   libprofile-<exe>-<jobid or date>[.NNN]/   or LIBPROFILE_OUTPUT
//     profile.lprof      all ranks (".partial" until complete);  rank-N.lprof: ranks that wrote alone, checkpoints
//     config             effective settings, sourceable
//     job                the job's key: by it a rank that writes alone finds the folder of its job
#pragma once

#include <cstddef>

namespace libprofile {

class OutputFolder {
  public:
    static constexpr std::size_t path_size = 4096;
    static constexpr const char* small_files[] = {"job", "config"};

    /// Makes the folder for this job, or takes the one that a rank with a checkpoint has made already. When LIBPROFILE_OUTPUT
    /// cannot be used it falls back to the working folder and says so; when that fails too, it says so and returns false.
    bool create() noexcept;
    /// Like create(), but takes over the folder when another rank of the job has made it.
    bool lead() noexcept;
    /// Finds the folder another rank of the job has made, or makes it (then `created()`); never prints.
    bool join() noexcept;
    /// Forgets a folder that has vanished or cannot be written any more, so that another is made.
    void check() noexcept;
    /// When a file could not be written, with errno `error`, where LIBPROFILE_OUTPUT says: a folder in the working folder instead.
    /// False: there is none, or it is in use already. Never prints.
    bool fall_back(int error) noexcept;
    /// Tells of that.
    void say_fallen_back(int error) const noexcept;
    /// Takes over the path that rank 0 chose.
    void adopt(const char* path) noexcept;

    bool ready() const { return path_[0] != 0; }
    bool created() const { return created_; }
    const char* path() const { return path_; }
    /// path() as a user reads it: relative when it lies in the folder the job was started in, below NEW_ROOT when the program has changed
    /// its root folder.
    const char* shown() const noexcept;
    /// path()/name in `buffer`.
    void file(const char* name, char (&buffer)[path_size + 64]) const noexcept;

  private:
    bool make(const char* base, bool may_exist_empty, int& error) noexcept;
    bool find_job(const char* base) noexcept;
    bool find_wanted(char (&base)[path_size], char (&fallback)[path_size]) noexcept;
    bool claim(const char* path, bool may_exist_empty, int& error) noexcept;

    char path_[path_size] = {};
    bool created_ = false;
    bool refused_ = false; // create() has said why there is none
};
extern OutputFolder output_folder;

} // namespace libprofile
