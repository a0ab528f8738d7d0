// The program that `heddle run` is asked to run: whether it was built to be checked, and what is done when
// not.
#pragma once

#include <string>

namespace heddle {

class ProgramToRun {
 public:
  // `command` is a path, or a name to be found in PATH.
  explicit ProgramToRun(const std::string& command);

  // Throws InputError if an output of this name would take the program's place.
  void refuse_as_output(const std::string& path) const;

  // Where it lies; empty: nowhere.
  const std::string& file() const { return file_; }
  // The value of LD_PRELOAD that brings the runtime into a program that was built without: its locks and
  // threads are checked then. Empty: leave it as it is.
  const std::string& preload() const { return preload_; }
  // What cannot be checked and what to do about it, a sentence; empty: everything can.
  const std::string& warning() const { return warning_; }

 private:
  std::string file_;
  std::string preload_;
  std::string warning_;
};

}  // namespace heddle
