"""Perfetto's trace, decoded by protoc and followed as trace_processor does: packets in the order of their times, a stack of slices for each track, flows from
event to event. Strict: what trace_processor would count as an error is one here."""

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from . import expect
from .pprof import parse

HERE = Path(__file__).resolve().parent
BEGINS, NEEDS = 1, 2  # SequenceFlags


@dataclass
class Trace:
    threads: dict = field(default_factory=dict)  # by uuid: (process, thread), their names
    slices: dict = field(default_factory=dict)   # by names: (begin, end, name, category, annotations), in the order of ends
    instants: dict = field(default_factory=dict) # by names: (at, name, category, annotations)
    counters: dict = field(default_factory=dict) # by names and counter: (at, value)
    flows: list = field(default_factory=list)    # (from, to): each (names, name of the slice, at)


def decode(place):
    result = subprocess.run(["protoc", f"--proto_path={HERE}", "--decode=perfetto.protos.Trace", "perfetto.proto"], input=Path(place).read_bytes(),
                            capture_output=True, timeout=120)
    expect(result.returncode == 0, f"protoc: {result.stderr.decode()}")
    text = result.stdout.decode()
    unknown = [line for line in text.splitlines() if line.strip()[:1].isdigit()]
    expect(not unknown, f"fields that are not described: {unknown[:3]}")
    return parse(text).get("packet", [])


def read(place):
    trace, processes, texts, is_begun, counters = Trace(), {}, {}, False, {}
    events = []
    for packet in decode(place):
        expect(packet["trusted_packet_sequence_id"] == [1], "one sequence")
        flags = packet["sequence_flags"][0]
        expect(flags == (NEEDS if is_begun else BEGINS), f"flags of the sequence: {flags}")
        is_begun = True
        for descriptor in packet.get("track_descriptor", []):
            uuid = descriptor["uuid"][0]
            if "process" in descriptor:
                expect(uuid not in processes, "a process is described once")
                processes[uuid] = descriptor["process"][0]["pid"][0], descriptor["process"][0]["process_name"][0]
            elif "counter" in descriptor:
                expect(uuid not in counters, "a counter of a thread is described once")
                counters[uuid] = trace.threads[descriptor["parent_uuid"][0]], descriptor["name"][0]
            else:
                pid, name = processes[descriptor["parent_uuid"][0]]
                thread = descriptor["thread"][0]
                expect(thread["pid"][0] == pid and pid > 0 and thread["tid"][0] > 0, "the thread is one of its process")
                expect(uuid not in trace.threads, "a thread is described once")
                trace.threads[uuid] = name, thread["thread_name"][0]
        for kind, entries in packet.get("interned_data", [{}])[0].items():
            for entry in entries:
                expect((kind, entry["iid"][0]) not in texts, "a text is told once")
                texts[kind, entry["iid"][0]] = entry["name"][0]
        if "track_event" in packet and packet["track_event"][0]["type"] == ["TYPE_COUNTER"]:
            event = packet["track_event"][0]
            trace.counters.setdefault(counters[event["track_uuid"][0]], []).append((packet["timestamp"][0], event["counter_value"][0]))
        elif "track_event" in packet:
            events.append((packet["timestamp"][0], resolved(packet["track_event"][0], texts)))
    follow(trace, sorted(events, key=lambda event: event[0]))  # stable, as trace_processor's
    expect(len({names for names in trace.threads.values()}) == len(trace.threads), "names of threads")
    return trace


def resolved(event, texts):
    """With texts for their numbers, each of which was told before."""
    name = event["name"][0] if "name" in event else texts["event_names", event["name_iid"][0]] if "name_iid" in event else None
    return {"type": event["type"][0], "track": event["track_uuid"][0], "name": name,
            "category": [texts["event_categories", iid] for iid in event.get("category_iids", [])],
            "annotations": {texts["debug_annotation_names", one["name_iid"][0]]: (one.get("uint_value") or one["string_value"])[0] for one in event.get("debug_annotations", [])},
            "flows": [(flow, False) for flow in event.get("flow_ids", [])] + [(flow, True) for flow in event.get("terminating_flow_ids", [])]}


def follow(trace, events):
    stacks, open_flows = {}, {}
    for at, event in events:
        names = trace.threads[event["track"]]
        stack = stacks.setdefault(names, [])
        if event["type"] == "TYPE_SLICE_BEGIN":
            stack.append((at, event["name"], event["category"][0], event["annotations"]))
            place = names, event["name"], at
        elif event["type"] == "TYPE_SLICE_END":
            expect(stack, f"an end without a begin at {at} on {names}")
            begin, name, category, annotations = stack.pop()
            trace.slices.setdefault(names, []).append((begin, at, name, category, annotations))
            place = names, name, at
        else:
            expect(event["type"] == "TYPE_INSTANT", f"type {event['type']}")
            trace.instants.setdefault(names, []).append((at, event["name"], event["category"][0], event["annotations"]))
            place = names, event["name"], at
        for flow, is_last in event["flows"]:
            if flow in open_flows:
                trace.flows.append((open_flows[flow], place))
            else:
                expect(not is_last, f"flow {flow} ends before it begins, on {names} at {at}")
            open_flows[flow] = place
            if is_last:
                del open_flows[flow]
    expect(not any(stacks.values()), "slices that do not end")
    trace.open_flows = len(open_flows)
