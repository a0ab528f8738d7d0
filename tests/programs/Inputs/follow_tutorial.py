"""follow_tutorial.py TUTORIAL: does what the tutorial says, in the current directory.

Runs its ```sh blocks one after the other in one shell; each must succeed, those marked ```sh fails must fail. The
lines of a plain ``` block must be in the output of the block before it, in this order; … stands for anything.
"""
import fnmatch
import re
import subprocess
import sys

text = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
shell = subprocess.Popen(["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, encoding="utf-8")
MARK = "the block has ended with"


def run(commands):
    """Each line as if typed: the first that fails ends the block."""
    chained = " &&\n".join(commands.strip().split("\n"))
    shell.stdin.write(f"{chained}\ncode=$?\necho\necho {MARK} $code\n")
    shell.stdin.flush()
    lines = []
    for line in shell.stdout:
        if line.startswith(MARK):
            return lines, int(line.split()[-1])
        lines.append(line.rstrip("\n"))
    sys.exit("the shell has ended")


def pattern(line):
    return re.sub(r"([\[?*])", r"[\1]", line).replace("…", "*")


ran = 0
output = []
for kind, content in blocks:
    if kind.split()[:1] == ["sh"]:
        output, code = run(content)
        ran += 1
        print(content + "\n".join(output), flush=True)
        if (code != 0) != (kind == "sh fails"):
            sys.exit(f"exit code {code}")
    elif kind == "":
        at = 0
        for line in content.rstrip("\n").split("\n"):
            while at < len(output) and not fnmatch.fnmatchcase(output[at], pattern(line)):
                at += 1
            if at == len(output):
                sys.exit(f"not in the output: {line}")
            at += 1
if ran == 0:
    sys.exit("no commands in the tutorial")
