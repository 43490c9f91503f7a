// without_mpi [MODE]: threads and exceptions, no MPI; exits with 5.
//   markers    also 20 marked iterations
//   closefrom  after a while closes all files and opens its own; exits with 6 if anyone else reads or writes them
#include <libprofile.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

[[gnu::noinline]] int descend(int depth) {
    const std::string guard(static_cast<std::size_t>(depth) + 1, 'x'); // has a destructor
    volatile char large[3000]; // the stack covers many pages, which an unwinder may want to check
    large[0] = large[sizeof large - 1] = 'x';
    if (depth == 0)
        throw std::out_of_range("bottom");
    return descend(depth - 1) + static_cast<int>(guard.size());
}

int throw_and_catch(int times) {
    int caught = 0;
    for (int i = 0; i < times; ++i)
        try {
            descend(i % 40);
        } catch (const std::exception&) {
            ++caught;
        }
    return caught;
}

/// Files on the descriptors from 3 on, which others may have used before.
class OwnFiles {
  public:
    OwnFiles() {
        for (int file = 3; file < 1024; ++file)
            close(file);
        for (int& file : files_)
            if ((file = open(".", O_TMPFILE | O_RDWR, 0600)) < 0 || write(file, "own", 3) != 3 ||
                lseek(file, 1, SEEK_SET) != 1)
                std::exit(7);
    }
    bool untouched() const {
        for (const int file : files_) {
            struct stat status {};
            if (fstat(file, &status) != 0 || status.st_size != 3 || lseek(file, 0, SEEK_CUR) != 1)
                return false;
        }
        return true;
    }

  private:
    int files_[16];
};

} // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    const bool markers = mode == "markers";
    std::unique_ptr<OwnFiles> files;
    if (mode == "closefrom" && throw_and_catch(5000) != 0) // some samples before
        files = std::make_unique<OwnFiles>();
    std::atomic<int> caught{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&caught, i] { caught += throw_and_catch(1000 * (i + 1)); });
    for (std::thread& thread : threads)
        thread.join();
    if (markers)
        for (int step = 0; step < 20; ++step) {
            libprofile::iteration iteration("step");
            caught += throw_and_catch(50);
        }
    std::printf("caught %d\n", caught.load());
    return files && !files->untouched() ? 6 : 5;
}
