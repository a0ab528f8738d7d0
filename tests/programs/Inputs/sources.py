"""Prints what a text trace of one thread (standard input) says of data flow, whichever locals it says it with: every read and write in
order, each write with the numbers of the reads that it depends on, and at the end the reads that were branched on.
With --any-name, a variable is a number, by when it was first used.
"""
import re
import sys

STEP = re.compile(r"[^|]*\|(\w+)\(([^)]*)\)(?:([<>])([^|]*))?\|?")


def main():
    locals_, reads, branched = {}, 0, set()
    numbers = {}
    any_name = "--any-name" in sys.argv
    for line in sys.stdin:
        step = STEP.match(line)
        if step is None:
            continue
        operation, operand, _, local = step.groups()
        if any_name and operation in ("r", "w"):
            operand = numbers.setdefault(operand, len(numbers))
        if operation == "r":
            reads += 1
            if local:
                locals_[local] = frozenset([reads])
            print("r", operand)
        elif operation == "w":
            print("w", operand, *sorted(locals_.get(local, ())))
        elif operation == "set":
            target, *sources = operand.split(",")
            locals_[target] = frozenset().union(*(locals_.get(source, ()) for source in sources))
        elif operation == "br":
            branched |= locals_.get(operand, frozenset())
    print("branched on", *sorted(branched))


main()
