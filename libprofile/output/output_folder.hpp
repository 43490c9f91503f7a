// The job's output folder: its path, who makes it, and the small files in it.
// Contract: one thread, outside handlers. Never overwrites a profile: if a folder has one, a numbered sibling is made.
//
//   libprofile-<exe>-<jobid or date>[.NNN]/   or LIBPROFILE_OUTPUT
//     profile.lprof      all ranks (".partial" until complete);  rank-N.lprof: ranks that wrote alone, and checkpoints
//     config             effective settings, sourceable
//     job                the job's key, by which a rank that writes alone finds the folder of its job
#pragma once

#include <cstddef>

namespace libprofile {

class OutputFolder {
  public:
    static constexpr std::size_t path_size = 4096;
    static constexpr const char* small_files[] = {"job", "config"};

    /// Makes the folder for this job, or takes the one that a rank with a checkpoint has already made. If LIBPROFILE_OUTPUT cannot be used, it
    /// uses the working folder and prints a message. If that fails too, it prints a message and returns false.
    bool create() noexcept;
    /// Like create(), but takes over the folder when another rank of the job has made it.
    bool lead() noexcept;
    /// Finds the folder that another rank of the job has made, or makes it (then `created()`); never prints.
    bool join() noexcept;
    /// Forgets a folder that has vanished or became unwritable, so another one is made.
    void check() noexcept;
    /// A file could not be written to LIBPROFILE_OUTPUT because of errno `error`: changes to a folder in the working folder. Returns false if there is
    /// none, or it is already in use. Never prints.
    bool fall_back(int error) noexcept;
    /// Prints a message about that.
    void say_fallen_back(int error) const noexcept;
    /// Takes over the path that rank 0 chose.
    void adopt(const char* path) noexcept;

    bool ready() const { return path_[0] != 0; }
    bool created() const { return created_; }
    const char* path() const { return path_; }
    /// path() as a user reads it: relative if it lies in the folder where the job was started, below NEW_ROOT if the program has changed its
    /// root folder.
    const char* shown() const noexcept;
    /// Writes path()/name to `buffer`.
    void file(const char* name, char (&buffer)[path_size + 64]) const noexcept;

  private:
    bool make(const char* base, bool may_exist_empty, int& error) noexcept;
    bool find_job(const char* base) noexcept;
    /// Ranks of other hosts name the folder otherwise, if no batch system names the job: their launcher began in another second.
    bool find_otherwise_named() noexcept;
    bool find_wanted(char (&base)[path_size], char (&fallback)[path_size]) noexcept;
    bool claim(const char* path, bool may_exist_empty, int& error) noexcept;

    char path_[path_size] = {};
    bool created_ = false;
    bool refused_ = false; // create() has printed why there is none
};
extern OutputFolder output_folder;

} // namespace libprofile
