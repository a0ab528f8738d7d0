"""Runs the programs of bench/programs plain, under ThreadSanitizer and under Heddle, and prints what each costs.

Called by bench/live. Times are CPU times (user and system), medians of several runs that take turns, so that a busy
neighbour hurts all alike; slowdowns are over plain -O2 in the same round.
"""
import argparse
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ["series", "sor", "sparse", "lufact", "crypt", "moldyn", "montecarlo", "raytracer"]
LOCK_HEAVY = ["queue", "hashmap", "bank"]


def say(text):
    print(f"bench/live: {text}", file=sys.stderr, flush=True)


def compile_all(names, scratch, wrapper):
    for name in names:
        source = ROOT / "bench/programs" / f"{name}.cpp"
        common = ["-std=c++20", "-O2", "-g", str(source), "-pthread"]
        for variant, command in (("plain", ["clang++-19"]), ("tsan", ["clang++-19", "-fsanitize=thread"]),
                                 ("heddle", [str(wrapper)])):
            subprocess.run(command + common + ["-o", str(scratch / f"{name}.{variant}")], check=True)


def run(program, threads, size):
    """CPU seconds and peak MiB of one run. A program that fails, or that a checker complains about, ends it all."""
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        process = subprocess.Popen([str(program), str(threads), *size], stdout=nothing, stderr=subprocess.PIPE)
        complaint = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    if status != 0 or complaint:
        sys.exit(f"bench/live: {program.name} {threads}: status {status}: {complaint[:300].decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(name, threads, arguments, scratch):
    rounds = {variant: [] for variant in ("plain", "tsan", "heddle")}
    for _ in range(arguments.runs):
        for variant, results in rounds.items():
            results.append(run(scratch / f"{name}.{variant}", threads, arguments.size))
    time = {variant: statistics.median(result[0] for result in results) for variant, results in rounds.items()}
    memory = {variant: statistics.median(result[1] for result in results) for variant, results in rounds.items()}
    return time, memory


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrapper", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--small", dest="size", action="store_const", const=["small"], default=[])
    parser.add_argument("names", nargs="*", default=KERNELS + LOCK_HEAVY)
    arguments = parser.parse_args()
    arguments.scratch.mkdir(parents=True, exist_ok=True)
    say("compiling")
    compile_all(arguments.names, arguments.scratch, arguments.wrapper)
    print("| program, threads | plain s | TSan × | Heddle × | Heddle ÷ TSan | TSan MiB | Heddle MiB |")
    print("|---|--:|--:|--:|--:|--:|--:|", flush=True)
    of_kernels = []
    for name in arguments.names:
        for threads in arguments.threads:
            time, memory = measure(name, threads, arguments, arguments.scratch)
            ratio = time["heddle"] / time["tsan"]
            if name in KERNELS:
                of_kernels.append(ratio)
            print(f"| {name}, {threads} | {time['plain']:.2f} | {time['tsan'] / time['plain']:.2f} | "
                  f"{time['heddle'] / time['plain']:.2f} | {ratio:.2f} | {memory['tsan']:.0f} | "
                  f"{memory['heddle']:.0f} |", flush=True)
    if of_kernels:
        print(f"\nGeometric mean of Heddle ÷ TSan over the CPU-bound kernels: {geometric_mean(of_kernels):.2f}")


if __name__ == "__main__":
    main()
