# The lit suite of the command line. A test is a *.test file; its RUN lines go to bash.
#
#   %exits N COMMAND…   runs the command and fails unless it exits with N
#   %inputs             tests/cli/Inputs
#   %examples           examples/traces
#   %t                  a name below the build directory that is this test's alone
import os

import lit.formats

config.name = "heddle-cli"
# A tool that does not end is stopped after two minutes of computing, so that the suite always ends.
config.test_format = lit.formats.ShTest(execute_external=True, preamble_commands=["ulimit -t 120"])
config.suffixes = [".test"]
config.excludes = ["Inputs"]
config.test_source_root = config.suite_root
config.test_exec_root = config.output_root

llvm = "/usr/lib/llvm-19/bin"
config.environment["PATH"] = os.pathsep.join([os.path.dirname(config.heddle), llvm, os.environ["PATH"]])
# What a developer has set must not change what the tool prints.
for name in ["HEDDLE_OPTIONS", "NO_COLOR", "TERM", "COLUMNS"]:
    config.environment.pop(name, None)
config.environment["LC_ALL"] = "C.UTF-8"

config.substitutions.append(("%exits", "bash " + os.path.join(config.suite_root, "Inputs/exits.sh")))
config.substitutions.append(("%inputs", os.path.join(config.suite_root, "Inputs")))
config.substitutions.append(("%examples", os.path.join(config.source_root, "examples/traces")))
config.substitutions.append(("%root", config.source_root))
config.substitutions.append(("%python", "/usr/bin/python3"))
