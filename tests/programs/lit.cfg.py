# The lit suite of real programs: built with the compiler wrapper, run, and what is said about them compared.
#
#   %exits N COMMAND…   fails unless the command exits with N
#   %source   tests/programs
#   %root     the repository
#   %build    what this build has made: bin, lib and include
#   %t        a name below the build directory that is this test's alone
import os

import lit.formats

config.name = "heddle-programs"
config.test_format = lit.formats.ShTest(execute_external=True, preamble_commands=["ulimit -t 120"])
config.suffixes = [".test"]
config.excludes = ["Inputs"]
config.test_source_root = config.suite_root
config.test_exec_root = config.output_root
config.environment["PATH"] = os.pathsep.join([config.tools, "/usr/lib/llvm-19/bin", os.environ["PATH"]])
config.environment.pop("HEDDLE_OPTIONS", None)
config.environment["LC_ALL"] = "C.UTF-8"
config.substitutions.append(("%exits", "bash " + os.path.join(config.source_root, "tests/cli/Inputs/exits.sh")))
config.substitutions.append(("%source", config.suite_root))
config.substitutions.append(("%build", os.path.dirname(config.tools)))
config.substitutions.append(("%root", config.source_root))
