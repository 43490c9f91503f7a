"""pprof's profile.proto, decoded by protoc with the description that pprof publishes (Debian's golang-github-google-pprof-dev)."""

import gzip
import re
import subprocess
from pathlib import Path

from . import Reading, expect

PROTO = Path("/usr/share/gocode/src/github.com/google/pprof/proto")
TOKEN = re.compile(r'(\w+) \{|\}|(\w+): (?:"((?:[^"\\]|\\.)*)"|(\S+))')


def parse(text):
    """protoc's text: a message is a dictionary of lists."""
    root = {}
    stack = [root]
    for match in TOKEN.finditer(text):
        opened, key, string, number = match.groups()
        if opened:
            message = {}
            stack[-1].setdefault(opened, []).append(message)
            stack.append(message)
        elif key is None:
            stack.pop()
        else:
            value = string.encode().decode("unicode_escape").encode("latin-1").decode() if string is not None else number
            value = int(value) if string is None and value.lstrip("-").isdigit() else value
            stack[-1].setdefault(key, []).append(value)
    expect(len(stack) == 1, "messages end")
    return root


def read(place):
    content = gzip.decompress(Path(place).read_bytes())
    decoded = subprocess.run(["protoc", f"--proto_path={PROTO}", "--decode=perftools.profiles.Profile", "profile.proto"],
                             input=content, capture_output=True, timeout=60)
    expect(decoded.returncode == 0, f"protoc: {decoded.stderr.decode()}")
    profile = parse(decoded.stdout.decode())
    strings = profile["string_table"]
    expect(strings[0] == "", "the first string is empty")
    text = lambda message, key: strings[message.get(key, [0])[0]]
    types = [text(t, "type") for t in profile["sample_type"]]
    expect(text(profile["sample_type"][0], "unit") == "nanoseconds", "unit of times")
    functions = {f["id"][0]: f for f in profile["function"]}
    locations = {l["id"][0]: l for l in profile["location"]}
    mappings = {m["id"][0] for m in profile["mapping"]}
    expect(0 not in functions and 0 not in locations and 0 not in mappings, "ids are not 0")
    reading = Reading()
    for location in locations.values():
        expect(location["mapping_id"][0] in mappings, "mapping of a location")
        for line in location["line"]:
            function = functions[line["function_id"][0]]
            reading.names.add(text(function, "name"))
            if "line" in line:
                reading.lines[text(function, "name")] = (text(function, "filename"), line["line"][0])
    for sample in profile["sample"]:
        expect(all(i in locations for i in sample["location_id"]), "locations of a sample")
        expect(len(sample["value"]) == len(types), "a value for each type")
        # As pprof decodes them: without a text, what is 0 and has no unit is dropped. `-tagfocus=rank=0` looks among the rest.
        labels = {text(label, "key"): label for label in sample["label"] if {"str", "num", "num_unit"} & set(label)}
        expect(text(labels["rank"], "num_unit") == "rank" and text(labels["thread"], "num_unit") == "thread", "units of labels")
        rank = labels["rank"].get("num", [0])[0]
        for metric, value in zip(types, sample["value"]):
            reading.add(metric, value, rank, text(functions[locations[sample["location_id"][0]]["line"][0]["function_id"][0]], "name"))
    return reading
