"""list_names.py FILE.ll: for each function, what its checked accesses are called; "-" for no name."""

import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
names = dict(re.findall(r'(@heddle\.name[.\d]*) = private unnamed_addr constant \[\d+ x i8\] c"([^"]*)\\00"', text))
for header, body in re.findall(r'^define .*?@"?([\w.$]+)"?\(.*?\{\n(.*?)^\}', text, re.M | re.S):
    found = []
    for kind, arguments in re.findall(r"call .*?void @heddle_(read|write|end_atomic)\w*\((.*)\)", body):
        name = re.search(r"@heddle\.name[.\d]*", arguments)
        found.append(f"{kind.replace('end_', '')} {names[name.group()] if name else '-'}")
    if found:
        print(f"{header}:", *found, sep="\n")
