// Files, the way Heddle promises to treat them: inputs are read in blocks and never mapped (a file that
// shrinks under us is an error, not a signal); outputs get their name only once they are complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace heddle {

// What an input is called in messages and reports: its path, or "<stdin>" for "-".
std::string input_name(const std::string& path);

// A file opened for reading; "-" is standard input.
class InputFile {
 public:
  // Throws InputError when the file cannot be opened or is a directory.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Reads up to `size` bytes at the current position; fewer only at the end of the file.
  std::size_t read(char* to, std::size_t size);
  // Reads up to `size` bytes at `offset`; fewer only at the end. Regular files only.
  std::size_t read_at(uint64_t offset, char* to, std::size_t size);

  const std::string& path() const { return path_; }  // its input_name()
  bool is_regular() const { return regular_; }
  uint64_t size() const { return size_; }  // at the time of opening; 0 for a pipe

 private:
  std::string path_;
  int descriptor_ = -1;
  bool regular_ = false;
  uint64_t size_ = 0;
};

// A file being written. It appears under its name when commit() has run; without it nothing is left behind
// and what stood under the name before is untouched. What it replaces passes on its permissions; a symbolic
// link stays, and its target is written. "-" is standard output.
class OutputFile {
 public:
  // Throws InputError when the file cannot be created or its name is empty.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Throws SystemError when the bytes cannot be written.
  void write(std::string_view bytes);
  void commit();

  uint64_t bytes_written() const { return written_; }

 private:
  void flush();
  void write_all(std::string_view bytes);

  std::string path_;       // as the user named it
  std::string final_;      // the name it gets, past all links
  std::string temporary_;  // the name until commit; empty for standard output and devices
  std::string buffer_;     // bytes not handed to the kernel yet
  int descriptor_ = -1;
  uint64_t written_ = 0;  // bytes taken by write()
};

// The whole file. Throws InputError when it cannot be read.
std::string read_whole_file(const std::string& path);

// The name of the `number`-th of several files that belong together: "run.std", "run.2.std", "run.3.std".
std::string numbered_path(const std::string& path, std::size_t number);

// Whether both names lead to one regular file; false when either leads to none.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace heddle
