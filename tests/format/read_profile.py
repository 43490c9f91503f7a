#!/usr/bin/env python3
"""A second reader of profile files, written from docs/format.md alone.

    read_profile.py FILE [--scan]      prints, as JSON, what adds up in a profile
    read_profile.py --totals FOLDER    compares totals.lprof with profile.lprof beside it

It shares no code with libprofile: where the two differ, one of them or the document is wrong. It reads by the directories
where a file has them; --scan reads from the beginning to the end instead, and the output must be the same. It decodes series
too: the values of whole iterations, with a range decoder of its own; and the journals of jobs that were killed (of a live file,
by --scan: it has no directory).
"""

import json
import struct
import sys
import zlib
from collections import defaultdict
from pathlib import Path

JOB = 0xFFFFFFFF
FILE_HEADER = struct.Struct("<8sIIQQ")
BLOCK_HEADER = struct.Struct("<IIQQII")
RANK_ENTRY = struct.Struct("<QQII")
FOOTER = struct.Struct("<QQQ8s")
(TYPE_JOB, TYPE_METRICS, TYPE_RANK, TYPE_MODULES, TYPE_FUNCTIONS, TYPE_TREE, TYPE_PHASE, TYPE_NAMES, TYPE_TRACE, _,
 TYPE_LOCATION, TYPE_NODE_MAP, TYPE_CELLS, TYPE_DIRECTORY, TYPE_RANK_TABLE, TYPE_FOOTER) = range(1, 17)
TYPE_JOURNAL, TYPE_SERIES, TYPE_LOOPS, TYPE_REGIONS, TYPE_TOPOLOGY, TYPE_OPENMP, TYPE_SHORT_THREADS, TYPE_INSIDE, TYPE_BEGINS = range(21, 30)
TYPE_CLOCK, TYPE_PARTNERS = 30, 31
TYPE_WAITS = 32
TYPE_CODE_LOOPS, TYPE_TOTALS, TYPE_SEQUENCES, TYPE_EVENTS, TYPE_PAGES, TYPE_MACHINE = range(33, 39)
JOURNAL_RECORD = struct.Struct("<IIQ")


class Damaged(Exception):
    pass


def decompressed(stored, raw_size, at):
    import zstandard  # Debian: python3-zstandard. Only here: tests import this file where there is none, too
    try:
        frames = zstandard.ZstdDecompressor().stream_reader(stored, read_across_frames=True)
        data = frames.read(raw_size)
        if len(data) != raw_size or frames.read(1):
            raise Damaged(f"size of the block at {at}")
        return data
    except zstandard.ZstdError as error:
        raise Damaged(f"compressed block at {at}: {error}") from error


class Payload:
    """The numbers of a payload, one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            if self.at >= len(self.data) or shift > 63:
                raise Damaged("a number does not end")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                if value >> 64:
                    raise Damaged("a number is too large")
                return value

    def numbers(self, count):
        if count > len(self.data) - self.at:
            raise Damaged("a count does not fit")
        return [self.number() for _ in range(count)]

    def signed(self):
        raw = self.number()
        return -(raw + 1) // 2 if raw & 1 else raw // 2

    def signed_numbers(self, count):
        if count > len(self.data) - self.at:
            raise Damaged("a count does not fit")
        return [self.signed() for _ in range(count)]

    def bytes(self):
        size = self.number()
        if size > len(self.data) - self.at:
            raise Damaged("a text does not fit")
        self.at += size
        return self.data[self.at - size : self.at]

    def text(self):
        return self.bytes().decode("utf-8", "replace")

    def end(self):
        if self.at != len(self.data):
            raise Damaged("bytes are left")


class File:
    """The blocks of a file: (type, rank, payload)."""

    def __init__(self, data):
        self.data = data
        if len(data) < FILE_HEADER.size:
            raise Damaged("too short")
        magic, self.version, self.flags, self.ranks, _ = FILE_HEADER.unpack_from(data)
        if magic != b"LIBPROF\n":
            raise Damaged("no profile")
        if self.version not in (4, 5):
            raise Damaged(f"version {self.version}")

    def block(self, at):
        """(type, rank, payload, where the next block begins)"""
        if at + BLOCK_HEADER.size > len(self.data):
            raise Damaged("a block does not fit")
        magic, kind, stored_size, raw_size, crc, rank = BLOCK_HEADER.unpack_from(self.data, at)
        begin = at + BLOCK_HEADER.size
        if magic == 0x4B42504C and kind == TYPE_JOURNAL:  # has room for more than there is
            stored = self.data[begin : begin + stored_size]
            return kind, rank, stored, begin + (len(stored) + 7) // 8 * 8
        if magic != 0x4B42504C or begin + stored_size > len(self.data):
            raise Damaged(f"no block at {at}")
        stored = self.data[begin : begin + stored_size]
        if kind != TYPE_RANK_TABLE and zlib.crc32(stored) != crc:
            raise Damaged(f"checksum of the block at {at}")
        if raw_size != stored_size:
            if raw_size > 65536 and raw_size // 64 > stored_size:
                raise Damaged(f"the block at {at} claims too much")
            stored = decompressed(stored, raw_size, at)
        return kind, rank, stored, begin + (stored_size + 7) // 8 * 8

    def scan(self):
        at = FILE_HEADER.size
        while at < len(self.data):
            kind, rank, payload, at = self.block(at)
            yield kind, rank, payload

    def rank_entries(self):
        """The ranks' entries in the table: (rank, offset and size of the directory)."""
        size, table_at, ranks, magic = FOOTER.unpack_from(self.data, len(self.data) - FOOTER.size)
        if magic != b"LPROFEND" or size != len(self.data):
            raise Damaged("no footer")
        kind, _, table, _ = self.block(table_at)
        if kind != TYPE_RANK_TABLE or len(table) != ranks * RANK_ENTRY.size:
            raise Damaged("no table of ranks")
        for at in range(0, len(table), RANK_ENTRY.size):
            directory_at, directory_size, rank, crc = RANK_ENTRY.unpack_from(table, at)
            if zlib.crc32(table[at : at + 20]) != crc:
                raise Damaged("checksum of an entry of the table")
            yield rank, directory_at, directory_size

    def directory(self, rank, directory_at, directory_size):
        """What a rank's directory lists: a dict for each block."""
        kind, owner, payload, _ = self.block(directory_at)
        stored_size = BLOCK_HEADER.unpack_from(self.data, directory_at)[2]
        if kind != TYPE_DIRECTORY or owner != rank or directory_size != BLOCK_HEADER.size + stored_size:
            raise Damaged(f"no directory of rank {rank}")
        p = Payload(payload)
        for _ in range(p.number()):
            kind, of_job, thread, phase, metric, distance, size = p.numbers(7)
            yield {"type": kind, "rank": JOB if of_job else rank, "thread": thread, "phase": phase, "metric": metric,
                   "at": directory_at - distance, "stored_size": size}
        p.end()

    def by_directory(self):
        for rank, at, size in self.rank_entries():
            for entry in self.directory(rank, at, size):
                kind, owner, payload, _ = self.block(entry["at"])
                stored_size = BLOCK_HEADER.unpack_from(self.data, entry["at"])[2]
                if (kind, owner, stored_size) != (entry["type"], entry["rank"], entry["stored_size"]):
                    raise Damaged(f"the directory of rank {rank} lies about the block at {entry['at']}")
                yield kind, owner, payload


class RangeDecoder:
    """Decisions and bits of a range-coded stream."""

    def __init__(self, data):
        self.data, self.at, self.range = data, 4, 0xFFFFFFFF
        self.code = int.from_bytes(data[:4].ljust(4, b"\0"), "big")

    def normalise(self):
        while self.range < 1 << 24:
            byte = self.data[self.at] if self.at < len(self.data) else 0
            self.at += 1
            self.range = self.range << 8 & 0xFFFFFFFF
            self.code = (self.code << 8 | byte) & 0xFFFFFFFF

    def decide(self, odds, key, rate):
        chance = odds.get(key, 0x8000)
        bound = (self.range >> 16) * chance
        yes = self.code >= bound
        if yes:
            self.code -= bound
            self.range -= bound
            odds[key] = chance - (chance >> rate)
        else:
            self.range = bound
            odds[key] = chance + (0xFFFF - chance >> rate)
        self.normalise()
        return yes

    def bits(self, count):
        value = 0
        for _ in range(count):
            self.range >>= 1
            one = self.code >= self.range
            if one:
                self.code -= self.range
            value = value << 1 | one
            self.normalise()
        return value

    def length(self, odds, key, expected):
        """How many binary digits a number has, when `expected` are."""
        if expected == 0:
            return self.bits(6) + 1
        length = expected
        while length < 64 and self.decide(odds, (key, "longer", min(length - expected, 5)), 5):
            length += 1
        if length == expected:
            while length > 1 and self.decide(odds, (key, "shorter", min(expected - length, 5)), 5):
                length -= 1
        return length


def catalogue():
    """The rows of format/metrics.def: (name, kind, parent's id, id)."""
    text = (Path(__file__).resolve().parents[2] / "format/metrics.def").read_text()
    rows = []
    for line in text.splitlines():
        kind, bracket, rest = line.partition("(")
        if bracket and kind in ("TIME", "SUM", "DIRECT"):
            fields = [field.strip().strip('"') for field in rest.split(",")]
            rows.append((fields[1], kind, fields[2 if kind == "TIME" else 3], fields[0]))
    return rows


def as_signed(value):
    value &= 2**64 - 1
    return value - 2**64 if value >> 63 else value


def totals_of_chunk(stream, iterations, kinds):
    """The values of each iteration of a chunk, in columns; None for one that is not known."""
    coder, odds, lengths, order, slot = RangeDecoder(stream), {}, {}, [], 0
    slots = [[0] * len(kinds) for _ in range(4)]
    for _ in range(iterations):
        if coder.decide(odds, "unknown", 4):
            yield None
            continue
        if coder.decide(odds, "slot", 4):
            slot = coder.bits(2)
        source = coder.bits(2) if coder.decide(odds, "source", 4) else slot
        slots[slot] = list(slots[source])
        if coder.decide(odds, "new columns", 4):
            order += [column for column in range(len(kinds)) if column not in order and coder.bits(1)]
        values = [0] * len(kinds)
        for column in order:
            difference = 0
            if coder.decide(odds, ("changed", column), 4):
                negative = coder.decide(odds, "negative", 5)
                expected = lengths.get(column, 0)
                length = coder.length(odds, "length", expected + 1 >> 2)
                quarters = 4 * min(length, 63)
                lengths[column] = quarters if expected == 0 else expected + (quarters - expected + 2 >> 2)
                difference = 1 << length - 1 | coder.bits(length - 1)
                if negative:
                    difference = -difference
            before = slots[slot][column]
            value = as_signed(before + difference)
            slots[slot][column] = value if kinds[column] != "TIME" or before == 0 else before + (value - before >> 2)
            values[column] = value
        yield values


def series_totals(p, rows):
    """The payload of a Series block: sums over its iterations, by row of the catalogue."""
    thread, phase = p.number(), p.text()
    columns, counts, times, metrics, chunks = p.numbers(5)
    kept = [row for row in rows if row[1] != "SUM"]
    counters = columns - len(kept) - 1
    if not 0 <= counters <= 16:
        raise Damaged("a series of another catalogue")
    p.numbers(2 * counts)
    p.numbers(2 * times)
    p.numbers(4 * metrics)
    sums, known, iterations = [0] * columns, 0, 0
    for _ in range(chunks):
        length, _, _, flags = p.numbers(4)
        stream, _ = p.bytes(), p.bytes()
        iterations += length
        if flags & 1:
            for values in totals_of_chunk(stream, length, [row[1] for row in kept] + [""] * (1 + counters)):
                if values is not None:
                    known += 1
                    sums = [a + b for a, b in zip(sums, values)]
    # A row is what it has of its own and what the rows below it have; children come after their parents.
    by_id = dict.fromkeys((row[3] for row in rows), 0)
    by_id.update((row[3], value) for row, value in zip(kept, sums))
    for _, _, parent, number in reversed(rows):
        if parent != "None":
            by_id[parent] += by_id[number]
    names = {row[3]: row[0] for row in rows}
    wall_inclusive = by_id["Total"] + sums[len(kept)]
    for counter in range(counters):
        by_id[counter], names[counter] = sums[len(kept) + 1 + counter], counter  # its name is in the metric table
    return {"thread": thread, "phase": phase, "iterations": iterations, "known": known,
            "wall_inclusive_ns": wall_inclusive,
            "sums": {names[number]: value for number, value in by_id.items() if value != 0}}


def sequence_numbers(stream, iterations):
    """The number of each iteration's sequence."""
    coder, odds, following, ones, factor = RangeDecoder(stream), {}, {}, 2**64 - 1, 0x9E3779B97F4A7C15
    before, last, found = (0, 0), (0, 0), []
    for _ in range(iterations):
        h = before[0]
        for part in (before[1], *last):
            h = (h * factor + part) & ones
        place = (h * factor & ones) >> 55
        known = place in following
        number = following.get(place, last[0])
        if coder.decide(odds, ("another", known), 4):
            below = coder.bits(6)
            number = (1 << below | coder.bits(below)) - 1
        if known or number != last[0]:
            following[place] = number
        if number == last[0]:
            last = number, min(last[1] + 1, 65536)
        else:
            before, last = last, (number, 1)
        found.append(number)
    return found


def events_of(p):
    """An Events block; nodes are those of the thread."""
    events = dict(zip(("thread", "stride", "window_ns", "dropped_parts", "too_large", "dropped_events"), p.numbers(6)))
    events["parts"], end = [], 0
    for _ in range(p.number()):
        kind, _, number, reasons, left_out, length, count, processor = p.numbers(8)
        begin = end + left_out
        end = begin + length
        part = {"kind": kind, "number": number, "reasons": reasons, "begin": begin, "end": end, "intervals": [], "messages": [], "collectives": [], "inner": [],
                "tasks": [], "runs": [], "groups": [], "counts": []}
        at, node, values, last = begin, 0, {}, None
        for _ in range(count):
            first = p.number()
            rest = first >> 2
            if first & 3 == 1 and rest == 8:
                part["collectives"].append([p.number(), p.number()])
                continue
            if first & 3 == 1:
                partner = p.number() if rest & 2 else None
                communicator, tag, size = p.number(), p.signed(), p.number()
                part["messages"].append([rest & 1, partner, communicator, tag, size, p.number() if rest & 4 else None])
                continue
            if first & 3 == 3:
                says, what = rest >> 2, rest & 3
                if what == 2:
                    part["tasks"][-1]["dependences"].append([says, p.number()])
                    continue
                if what == 3 and says == 1:
                    processor = p.number()
                    continue
                if what == 3 and says >= 2:
                    start = values.get(says, 0) + p.signed()
                    values[says] = start + p.number()
                    part["counts"].append([last, len(part[last]) - 1, says - 2, start, values[says]])
                    continue
                node += p.signed() if what != 3 else 0
                start = at + p.signed()
                at = start + (p.number() if what != 0 else 0)
                if what == 0:
                    part["tasks"].append({"flags": says, "node": node, "at": at, "number": p.number(), "creator": p.number(), "dependences": []})
                else:
                    part["runs" if what == 1 else "groups"].append({"says": says, "node": node if what == 1 else None, "begin": start, "end": at, "task": p.number(),
                                                                    "processor": processor - 1})
                    last = "runs" if what == 1 else last
                continue
            start = at + p.signed()
            at = start + p.number()
            if first & 3 == 0:
                node += (rest >> 1) ^ -(rest & 1)
                part["intervals"].append([start, at, node, processor - 1])
                last = "intervals"
            else:
                part["inner"].append([start, at, p.number()])
        events["parts"].append(part)
    return events


MACHINE_OBJECTS = ["machine", "package", "group", "die", "NUMA node", *(f"L{level} cache" for level in (5, 4, 3, 2, 1)), "core", "processor", "part"]


def machine_of(p):
    """A Machine block; numbers are the kernel's."""
    machine = {"source": p.text()}
    objects, side = p.numbers(2)
    machine["objects"] = [dict(zip(("type", "children", "number", "size", "kind"), p.numbers(5))) for _ in range(objects)]
    for one in machine["objects"]:
        one["type"] = MACHINE_OBJECTS[one["type"] - 1]
        one["number"] = one["number"] - 1 if one["number"] else None
    machine["distances"] = [p.numbers(side) for _ in range(side)]
    return machine


def pages_of(p):
    """A Pages block, with ranges as [begin, end, node] in addresses."""
    pages = dict(zip(("page_size", "error", "unknown", "left_out", "asked", "asked_ns"), p.numbers(6)))
    pages["ranges"], end = [], 0
    for _ in range(p.number()):
        gap, count, node = p.numbers(3)
        begin, end = end + gap, end + gap + count
        pages["ranges"].append([begin * pages["page_size"], end * pages["page_size"], node])
    return pages


def sequence_of(p):
    """One sequence of a Sequences block."""
    first, second, iterations, flags, count = p.numbers(5)
    events = []
    for _ in range(count):
        what = p.number()
        inner = p.number() if what & 1 else None
        names = "count begin_sum begin_most length_sum length_most".split()
        events.append({"what": what >> 1, "inner": inner, **dict(zip(names, p.numbers(5)))})
    return {"hash": f"{first:016x}{second:016x}", "iterations": iterations, "flags": flags, "events": events}


def journal_records(data):
    """The payloads of the records that are whole."""
    at = sequence = 0
    while at + JOURNAL_RECORD.size <= len(data):
        mark, size, check = JOURNAL_RECORD.unpack_from(data, at)
        begin = at + JOURNAL_RECORD.size
        at = begin + (size + 7) // 8 * 8
        if mark != 0x4345524A or at > len(data):
            return
        factor, ones = 0x9E3779B97F4A7C15, 2**64 - 1
        h = ((sequence + 1) * factor & ones) ^ size
        for (word,) in struct.iter_unpack("<Q", data[begin:at]):
            h = (h ^ word) * factor & ones
            h = (h << 29 | h >> 35) & ones
        h = h * factor & ones
        if h ^ h >> 32 != check:
            return
        yield Payload(data[begin : begin + size])
        sequence += 1


def journal_sums(p, count, nodes, without):
    """The cells of a record, of a rank that has so many nodes, without one (node, position of the metric): sums by position of the metric."""
    sums, key = defaultdict(int), 0
    for _ in range(count):
        sizes = p.data[p.at]
        value_at = p.at + 1
        key_at = value_at + sizes % 16
        p.at = key_at + sizes // 16
        if p.at > len(p.data):
            raise Damaged("a cell of a journal does not fit")
        key = (key + int.from_bytes(p.data[key_at : p.at], "little")) % 2**32
        if key // 64 > nodes:
            raise Damaged(f"a journal has values of node {key // 64} before it says what that is")
        if divmod(key, 64) != without:
            sums[key % 64] = (sums[key % 64] + int.from_bytes(p.data[value_at:key_at], "little")) % 2**64
    return sums


class Known:
    """What a journal may refer to: what the snapshot has, by its names of phases and its tables, and what was defined since."""

    def __init__(self, phases, nodes, modules, functions):
        self.phases, self.nodes, self.modules, self.functions = dict(phases), nodes, modules, set(functions)

    def phase(self, number):
        if number not in self.phases:
            raise Damaged(f"a journal has values of phase {number} before it says what that is")
        return self.phases[number]

    def define(self, p):
        first, count = p.numbers(2)
        if first != len(self.phases):
            raise Damaged("a journal leaves out phases")
        for number in range(first, first + count):
            self.phases[number] = (p.number(), p.text())[1]
        first, count = p.numbers(2)
        if first > self.modules:
            raise Damaged("a journal leaves out modules")
        self.modules = max(self.modules, first + count)
        for _ in range(count):
            p.bytes(), p.text()
        for _ in range(p.number()):
            self.functions.add((p.number(), p.text(), p.number())[0])
        first, count = p.numbers(2)
        if first != self.nodes + 1:
            raise Damaged("a journal leaves out nodes")
        for number in range(first, first + count):
            distance, kind, a, _ = p.numbers(4)
            if not 1 <= distance <= number or (kind in (1, 12) and a >= self.modules) or (kind in (2, 11) and a not in self.functions):
                raise Damaged(f"node {number} of a journal")
        self.nodes += count


def journal_iterations(data, known, without, main_ns):
    """The iterations of a journal; `without`: see journal_sums(), `main_ns`: when the main thread's time began."""
    newest, iterations = {}, []
    for p in journal_records(data):
        kind = p.number()
        if kind == 1:
            known.define(p)
        elif kind == 2:
            phase, fate, wall, wall_inclusive, thread_wall, taken, lost = p.numbers(7)
            strong, weak = tuple(p.numbers(2)), tuple(p.numbers(2))
            newest[phase] = {"phase": known.phase(phase), "fate": fate, "wall_ns": wall, "begin_ns": main_ns + thread_wall - wall, "sums": journal_sums(p, p.number(), known.nodes, without)}
            iterations.append(newest[phase])
        elif kind == 4:
            taken_back = newest.pop(p.number())
            if taken_back["fate"] not in (0, 3):
                raise Damaged("an iteration that had nothing was taken back")
            taken_back["fate"] = 1
        else:
            known.phase(p.numbers(5)[0])
            journal_sums(p, p.number(), known.nodes, without)
        p.end()
    return iterations


def named_place(p):
    place = {"build_id": p.bytes().hex(), "path": p.text(), "offset": p.number(), "function": p.text(), "file": p.text(), "line": p.number()}
    return {**place, "inlined": [(p.text(), p.text(), p.number()) for _ in range(p.number())]}


def loops_of_module(p):
    module = {"build_id": p.bytes().hex(), "path": p.text()}
    files = [p.text() for _ in range(p.number())]
    functions, first = [], 0
    for _ in range(p.number()):
        state, count = p.numbers(2)
        first += p.signed()
        at, sites, blocks = first, [], 0
        for _ in range(count):
            number = p.number()
            at += number >> 2
            blocks += number & 1
            sites.append((at, blocks - 1, not number & 2))
        function = {"understood": state != 0, "sites": sites}
        functions.append(function)
        if state == 0:
            continue
        loop_of = [p.number() - 1 for _ in range(blocks)]
        loops = []
        for number in range(state - 1):
            distance, header, file, line = p.number(), first + p.signed(), p.number(), p.number()
            if distance > number or file > len(files):
                raise Damaged("a loop that cannot be")
            loops.append({"parent": number - distance if distance else -1, "header": header, "file": files[file - 1] if file else "", "line": line})
        around = loop_of + [loop["parent"] for loop in loops]
        after = [[item + p.signed() for _ in range(p.number())] for item in range(len(around))]
        if any(around[item] != around[other] for item, others in enumerate(after) for other in others):
            raise Damaged("an order between different loops")
        function.update({"loop_of_block": loop_of, "loops": loops, "after": after})
    return {**module, "functions": functions}


def read(blocks):
    job, metrics, counters, journals, topologies = None, None, [], {}, {}
    ranks, locations, phases, cells, series, loops = {}, {}, {}, [], [], []
    trees, maps, tables, rows = {}, {}, defaultdict(dict), catalogue()
    for kind, rank, payload in blocks:
        p = Payload(payload)
        if kind == TYPE_JOURNAL:
            journals[rank] = payload
            continue
        if kind == TYPE_JOB:
            size, start = p.numbers(2)
            job = {"ranks": size, "start_unix_ns": start}
            for name in ("mpi", "command", "executable", "folder", "version", "configuration"):
                job[name] = p.text()
        elif kind == TYPE_METRICS:
            metrics = [(p.text(), p.text()) for _ in range(p.number())]
            described = p.number() if p.at < len(p.data) else 0
            counters = [(name, unit, p.text()) for name, unit in metrics[len(metrics) - described :]]
        elif kind == TYPE_RANK:
            record = {"rank": p.number(), "pid": p.number(), "host": p.text()}
            names = ("threads complete clock rate samples_taken samples_lost partial_paths quota_losses nesting_repairs "
                     "threads_lost requests_lost memory_used memory_quota checkpoint threads_running").split()
            record.update(zip(names, p.numbers(len(names))))
            rest = []  # counters of format/path_counts.def and format/skip_reasons.def among them
            while p.at < len(p.data):
                rest.append(p.number())
            record["memory_peak"], record["bytes_written"], record["writing_ns"], record["operations_lost"] = rest[-4:]
            if record["rank"] != rank:
                raise Damaged("a Rank block of another rank")
            ranks[rank] = record
        elif kind == TYPE_MODULES:
            tables[rank]["modules"] = [(p.bytes(), p.text()) for _ in range(p.number())]
        elif kind == TYPE_FUNCTIONS:
            tables[rank]["functions"] = {}
            for _ in range(p.number()):
                number, name, category = p.number(), p.text(), p.number()
                tables[rank]["functions"][number] = (name, category)
        elif kind == TYPE_TREE:
            thread, count = p.numbers(2)
            trees[rank, thread] = [None] + [tuple(p.numbers(4)) for _ in range(count)]
        elif kind == TYPE_LOCATION:
            thread, wall, complete, paths_in, map_rank, map_thread = p.numbers(6)
            locations[rank, thread] = {"wall_ns": wall, "complete": complete,
                                       "map": (map_rank, map_thread) if paths_in == 1 else None}
        elif kind == TYPE_NODE_MAP:
            thread, count = p.numbers(2)
            node, nodes = 0, [0]
            for difference in p.signed_numbers(count):
                node += difference
                nodes.append(node)
            maps[rank, thread] = nodes
        elif kind == TYPE_PHASE:
            thread, number = p.numbers(2)
            phase = {"name": p.text()}
            names = ("kind instances wall_ns wall_inclusive_ns equivalence relaxed classes clusters unclustered metrics").split()
            phase.update(zip(names, p.numbers(len(names))))
            phase["cluster_list"] = [tuple(p.numbers(2)) for _ in range(phase["clusters"])]
            if phase["kind"] == 2:
                phase["cluster_of_iteration"] = []
                for _ in range(p.number()):
                    length, cluster = p.numbers(2)
                    if length > phase["instances"] - len(phase["cluster_of_iteration"]):
                        raise Damaged("runs are longer than there are iterations")
                    phase["cluster_of_iteration"] += [cluster] * length
                time, phase["iteration_times"] = 0, []
                for difference in p.signed_numbers(phase["instances"]):
                    time += difference
                    phase["iteration_times"].append(time)
            phases[rank, thread, number] = phase
        elif kind == TYPE_CELLS:
            thread, number, metric, lists = p.numbers(4)
            sizes = p.numbers(lists)
            nodes = []
            for size in sizes:
                node = 0
                nodes.append([])
                for distance in p.numbers(size):
                    node += distance
                    nodes[-1].append(node)
            values = [p.numbers(size) for size in sizes]
            cells.append(((rank, thread, number), metric, nodes, values))
        elif kind == TYPE_REGIONS:
            names = "repairs left unmatched too_deep without_memory excluded pair_ps".split()
            tables[rank]["regions"] = dict(zip(names, p.numbers(len(names))))
            tables[rank]["region_names"] = {(p.number(), p.number()): p.text() for _ in range(p.number())}
            for name in ("without_module", "inside"):
                tables[rank]["regions"][name] = p.number() if p.at < len(p.data) else 0
        elif kind == TYPE_OPENMP:
            names = "regions workers regions_refused shares_refused waits_refused phases_missed".split()
            tables[rank]["openmp"] = dict(zip(names, p.numbers(len(names))))
        elif kind == TYPE_SHORT_THREADS:
            tables[rank]["short_threads"] = dict(zip(("threads", "cpu_ns"), p.numbers(2)))
        elif kind == TYPE_INSIDE:
            thread, number, known, count = p.numbers(4)
            entries, iteration = [], 0
            for _ in range(count):
                iteration += p.number()
                entries += [(iteration, *p.numbers(3)) for _ in range(p.number())]
                iteration += 1
            tables[rank].setdefault("inside", {})[thread, number] = known, entries
        elif kind == TYPE_PARTNERS:
            thread, lost, count = p.numbers(3)
            node, found = 0, []
            for _ in range(count):
                row = dict(zip("distance direction others other_bytes unknown unknown_bytes".split(), p.numbers(6)))
                node += row.pop("distance")
                found.append({"node": node, **row, "partners": [p.numbers(3) for _ in range(p.number())]})
            tables[rank].setdefault("partners", {})[thread] = {"lost": lost, "rows": found}
        elif kind == TYPE_CLOCK:
            names = "id origin_ns main_ns own_ns monotonic_ns is_measured".split()
            clock = dict(zip(names, p.numbers(len(names))))
            tables[rank]["clock"] = {**clock, "offset_ns": p.signed(), "uncertainty_ns": p.number()}
        elif kind == TYPE_BEGINS:
            thread, number, first = p.numbers(3)
            tables[rank].setdefault("begins", {})[thread, number] = first, [gap for gap, in struct.iter_unpack("<H", p.bytes())]
        elif kind == TYPE_SEQUENCES:
            thread, number, iterations, unnumbered, untimed, count = p.numbers(6)
            listed = [sequence_of(p) for _ in range(count)]
            tables[rank].setdefault("sequences", {})[thread, number] = {
                "unnumbered": unnumbered, "untimed": untimed, "sequences": listed, "numbers": sequence_numbers(p.bytes(), iterations)}
        elif kind == TYPE_SERIES:
            series.append({"rank": rank, **series_totals(p, rows)})
        elif kind == TYPE_TOPOLOGY:
            topology = {"machine": p.text(), "model": p.text()}
            topology.update(zip(("memory", "processors", "cores", "packages", "numa_nodes"), p.numbers(5)))
            topology["counters"] = p.text()
            known, threads = p.numbers(2)
            topology["used_processors"] = [dict(zip(("number", "core", "package", "numa_node"), p.numbers(4))) for _ in range(known)]
            topology["threads"] = []
            for _ in range(threads):
                thread = {"thread": p.number(), "allowed": p.text()}
                thread.update(zip(("last", "looks", "moves", "counters"), p.numbers(4)))
                topology["threads"].append(thread)
            topologies[rank] = topology
        elif kind == TYPE_WAITS:
            thread, count, dropped, longest = p.numbers(4)
            end, waits = 0, []
            for _ in range(count):
                begin = end + p.signed()
                end = begin + p.number()
                p.signed()
                waits.append([begin, end, *p.numbers(2)])
            tables[rank].setdefault("waits", {})[thread] = {"dropped": dropped, "longest_dropped_ns": longest, "waits": waits}
        elif kind == TYPE_EVENTS:
            events = events_of(p)
            tables[rank].setdefault("events", {})[events.pop("thread")] = events
        elif kind == TYPE_MACHINE:
            tables[rank]["machine_tree"] = machine_of(p)
        elif kind == TYPE_PAGES:
            tables[rank]["pages"] = pages_of(p)
        elif kind == TYPE_NAMES:
            tables[rank]["names"] = [named_place(p) for _ in range(p.number())]
        elif kind == TYPE_CODE_LOOPS:
            tables[rank]["code_loops"] = [loops_of_module(p) for _ in range(p.number())]
        elif kind == TYPE_LOOPS:
            thread, searched, calls, count = p.numbers(4)
            for _ in range(count):
                loop = {"rank": rank, "thread": thread, "phase": p.text(), "build_id": p.bytes().hex(), "path": p.text(),
                        "offset": p.number(), "call": p.text()}
                for name in ("flags", "missed", "moves", "other_offset", "other_passes", "passes"):
                    loop[name] = p.number()
                loops.append({**loop, "searched_ns": searched, "calls": calls})
            for loop in loops[len(loops) - count:] if p.at < len(p.data) else []:
                loop.update(zip(("function", "caller", "first_ns", "last_ns"), p.numbers(4)))
            for loop in loops[len(loops) - count:] if p.at < len(p.data) else []:
                loop["around"] = p.number()
        else:
            continue
        p.end()
    return job, metrics, ranks, locations, phases, cells, trees, maps, tables, series, journals, loops, counters, topologies


def time_inside(inside, phases, rank, thread, number):
    """What all iterations of a phase have inside them: None where that is not known."""
    known, entries = inside.get((thread, number), (0, []))
    if known < phases[rank, thread, number]["instances"]:
        return None
    time = 0
    for iteration, phase, count, where in entries:
        inner = phases[rank, thread, phase]
        if iteration >= known or (inner["kind"] == 2 and where + count > inner["instances"]):
            raise Damaged("an iteration that is not there has something inside")
        time += sum(inner["iteration_times"][where : where + count]) if inner["kind"] == 2 else where
    return time


class Paths:
    """Call paths as texts, equal where they are the same path in different ranks."""

    def __init__(self, locations, trees, maps, tables):
        self.locations, self.trees, self.maps, self.tables, self.known = locations, trees, maps, tables, {}

    def of(self, rank, thread, node):
        location = self.locations[rank, thread]
        if location["map"] is None:
            return self.in_tree(rank, (rank, thread), node)
        return self.in_tree(JOB, (JOB, 0), self.maps[location["map"]][node])

    def is_not_sampled(self, rank, thread, node):
        path = self.of(rank, thread, node)
        return path != () and path[-1][0] == 5

    def in_tree(self, owner, tree, node):
        if node == 0:
            return ()
        key = (tree, node)
        if key not in self.known:
            distance, kind, a, b = self.trees[tree][node]
            if not 1 <= distance <= node:
                raise Damaged("a node's parent")
            what = ""
            if kind in (1, 12):
                build_id, path = self.tables[owner]["modules"][a]
                what = f"{build_id.hex() or path}+{b:#x}"
            elif kind in (2, 11):
                what = self.tables[owner]["functions"][a][0]
            elif kind == 8:
                what = hex(b)
            elif kind == 10:
                what = f"{a}:{b:#x}"
            elif kind == 13:
                what = f"{self.tables[owner].get('region_names', {}).get((8, b), hex(b))}:{a}"
            self.known[key] = self.in_tree(owner, tree, node - distance) + ((kind, what),)
        return self.known[key]


def iteration_begins(first, codes, times):
    """When the first iterations began; gaps are exponents of 6 bits and 10 bits of the number."""
    if len(codes) > len(times):
        raise Damaged("more iterations begin than end")
    begins, end = [], first
    for code, time in zip(codes, times):
        exponent, mantissa = code >> 10, code & 1023
        begins.append(end + (mantissa if exponent == 0 else 1024 + mantissa << exponent - 1))
        end = begins[-1] + time
    return begins


def order_of(found, phases, paths, rank, thread):
    """The sequences of a phase, with the names of what came; None: there are none."""
    if found is None:
        return None

    def named(event):
        if event["inner"] is not None:
            return {"phase": phases[rank, thread, event["what"]]["name"], "sequence": event["inner"] - 1 if event["inner"] else None}
        return {"name": paths.of(rank, thread, event["what"])[-1][1]}

    for one in found["sequences"]:
        if one["events"] and not one["flags"] & 1:
            raise Damaged("a timeline that is not there has events")
    numbers = found["numbers"]
    if any(number > len(found["sequences"]) for number in numbers):
        raise Damaged("an iteration has a sequence that is not there")
    for at, one in enumerate(found["sequences"], 1):
        if numbers.count(at) > one["iterations"]:
            raise Damaged("a sequence has more iterations than it says")
    return {"unnumbered": found["unnumbered"], "untimed": found["untimed"], "numbers": numbers,
            "sequences": [{**one, "events": [{**named(event), **event} for event in one["events"]]} for one in found["sequences"]]}


def summary(data, scan):
    file = File(data)
    job, metrics, ranks, locations, phases, cells, trees, maps, tables, series, journals, loops, counters, topologies = read(
        file.scan() if scan else file.by_directory())
    if job is None and "names" in tables[JOB]:  # names.lprof
        return {"names": tables[JOB]["names"], "code_loops": tables[JOB].get("code_loops", [])}
    paths = Paths(locations, trees, maps, tables)
    found = defaultdict(int)
    totals = defaultdict(lambda: defaultdict(int))
    clusters = defaultdict(lambda: defaultdict(lambda: defaultdict(int)))
    call_paths = set()
    for (rank, thread, number), metric, nodes, values in cells:
        phase = phases[rank, thread, number]
        found[rank, thread, number] += 1
        if len(nodes) != phase["clusters"] + 1:
            raise Damaged("cells of another number of clusters")
        name = metrics[metric][0]
        for at, (list_nodes, list_values) in enumerate(zip(nodes, values)):
            if name == "samples":  # of "(not sampled)" they are squares of times
                list_values = [value for node, value in zip(list_nodes, list_values) if not paths.is_not_sampled(rank, thread, node)]
            for sums in (totals[rank, thread, number], clusters[rank, thread, number][at] if at < phase["clusters"] else {}):
                sums[name] = (sums.get(name, 0) + sum(list_values)) % 2**64  # what is not sampled may be negative
            call_paths.update(paths.of(rank, thread, node) for node in list_nodes)
    out = {"job": job, "complete": file.flags & 1, "ranks": [ranks[rank] for rank in sorted(ranks)], "locations": [],
           "call_paths": len(call_paths - {()}), "series": sorted(series, key=lambda one: (one["rank"], one["thread"], one["phase"])),
           "counters": [{"name": name, "unit": unit, "description": text} for name, unit, text in counters],
           "clocks": [{"rank": rank, **tables[rank]["clock"]} for rank in sorted(ranks) if "clock" in tables[rank]],
           "machines": [{"rank": rank, **tables[rank]["machine_tree"]} for rank in sorted(tables) if "machine_tree" in tables[rank]],
           "pages": [{"rank": rank, **tables[rank]["pages"]} for rank in sorted(tables) if "pages" in tables[rank]],
           "topologies": [{"rank": rank, **topologies[rank]} for rank in sorted(topologies)],
           "loops": sorted(loops, key=lambda one: (one["rank"], one["thread"], one["phase"]))}
    for (rank, thread), location in sorted(locations.items()):
        entry = {"rank": rank, "thread": thread, "wall_ns": location["wall_ns"], "phases": []}
        known = tables[rank].get("partners", {}).get(thread, {"lost": 0, "rows": []})
        call_paths.update(paths.of(rank, thread, row["node"]) for row in known["rows"])  # all are there
        entry["partners_lost"] = known["lost"]
        entry["partners"] = [{key: value for key, value in row.items() if key != "node"} for row in known["rows"]]
        for (r, t, number), phase in sorted(phases.items()):
            if (r, t) != (rank, thread):
                continue
            if found[r, t, number] != phase["metrics"]:
                raise Damaged("Cells blocks are missing")
            if totals[r, t, number]["time"] != phase["wall_ns"]:
                raise Damaged("times of a phase do not add up")
            entry["phases"].append({
                "name": phase["name"], "kind": phase["kind"], "instances": phase["instances"], "wall_ns": phase["wall_ns"],
                "wall_inclusive_ns": phase["wall_inclusive_ns"],
                "inside_ns": time_inside(tables[rank].get("inside", {}), phases, r, t, number) if phase["kind"] == 2 else None, "totals": totals[r, t, number],
                "iteration_times": phase.get("iteration_times", []),
                "iteration_begins": iteration_begins(*tables[rank].get("begins", {}).get((t, number), (0, [])), phase.get("iteration_times", [])),
                "cluster_of_iteration": phase.get("cluster_of_iteration", []),
                "order": order_of(tables[rank].get("sequences", {}).get((t, number)), phases, paths, r, t),
                "clusters": [{"size": size, "class": number_of_class, "sums": clusters[r, t, number][at]}
                             for at, (size, number_of_class) in enumerate(phase["cluster_list"])]})
        if sum(phase["wall_ns"] for phase in entry["phases"]) != location["wall_ns"]:
            raise Damaged("times of a location do not add up")
        for name in ("events", "waits"):
            if thread in tables[rank].get(name, {}):
                entry[name] = tables[rank][name][thread]
        out["locations"].append(entry)
    for one in out["series"]:
        one["sums"] = {counters[name][0] if isinstance(name, int) else name: value for name, value in one["sums"].items()}
    for rank, data in journals.items():
        known = Known({number: phase["name"] for (r, t, number), phase in phases.items() if (r, t) == (rank, 0)},
                      len(trees[rank, 0]) - 1, len(tables[rank]["modules"]), tables[rank]["functions"])
        names = [name for name, _ in metrics]
        squares = next((node for node, one in enumerate(trees[rank, 0]) if one and one[1] == 5), None), names.index("samples")
        out.setdefault("journals", {})[rank] = [
            {**one, "sums": {names[at]: value for at, value in one["sums"].items()}} for one in journal_iterations(data, known, squares, tables[rank]["clock"]["main_ns"])]
    return out


def rows_of_totals(p, metrics):
    """A totals block, or a sum of the index: thread, metric, {number of a call path: value}."""
    thread, metric, rows, runs = p.numbers(4)
    numbers, end = [], 0
    for _ in range(runs):
        begin = end + p.number()
        end = begin + p.number()
        numbers += range(begin, end)
    if len(numbers) != rows or metric >= len(metrics):
        raise Damaged("rows of totals")
    return thread, metrics[metric], dict(zip(numbers, p.numbers(rows)))


def read_totals(data):
    """The index, and the rows by rank, thread and metric; the sums have rank None."""
    file = File(data)
    size, index_at, _, magic = FOOTER.unpack_from(data, len(data) - FOOTER.size)
    kind, rank, payload, _ = file.block(index_at)
    if magic != b"LPROFEND" or size != len(data) or kind != TYPE_TOTALS or rank != JOB:
        raise Damaged("no index of totals")
    p = Payload(payload)
    index = {"method": p.number(), "version": p.text(), "paths": p.number(), "threads": p.number()}
    files, metrics, blocks, sums = p.numbers(4)
    index["files"] = [(p.text(), *p.numbers(2)) for _ in range(files)]
    names = [p.text() for _ in range(metrics)]
    rows = {}
    for _ in range(blocks):
        rank, thread, metric, count, at, size = p.numbers(6)
        kind, of, payload, _ = file.block(at)
        block = Payload(payload)
        found = rows_of_totals(block, names)
        block.end()
        if (kind, of, len(payload), found[0], found[1], len(found[2])) != (TYPE_TOTALS, rank, size, thread, names[metric], count):
            raise Damaged("a block of totals is another one")
        rows[rank, thread, found[1]] = found[2]
    for _ in range(sums):
        _, metric, values = rows_of_totals(p, names)
        rows[None, 0, metric] = values
    p.end()
    return index, rows


def is_computation(path):
    return path != () and path[-1][0] in (1, 5, 6, 8, 10, 12, 13)


def check_totals(folder):
    """What totals.lprof says of the profile beside it, as far as it is no matter of samples."""
    data = (folder / "profile.lprof").read_bytes()
    job, metrics, ranks, locations, phases, cells, trees, maps, tables, _, _, _, counters, _ = read(File(data).by_directory())
    shared = {"time"} | {name for name, _, _ in counters}  # among call paths, by samples
    index, rows = read_totals((folder / "totals.lprof").read_bytes())
    status = (folder / "profile.lprof").stat()
    if index["files"] != [("profile.lprof", status.st_size, status.st_mtime_ns)] or index["threads"] != len(locations):
        raise Damaged("totals of another profile")
    paths = Paths(locations, trees, maps, tables)
    numbered = {(): 0}
    orders = [(JOB, (JOB, 0))] + [(rank, (rank, thread)) for rank, thread in sorted(locations) if locations[rank, thread]["map"] is None]
    for owner, tree in orders:
        for node in range(1, len(trees.get(tree, []))):
            numbered.setdefault(paths.in_tree(owner, tree, node), len(numbered))
    if len(numbered) != index["paths"]:
        raise Damaged(f"{len(numbered)} call paths, not {index['paths']}")
    path_of = {number: path for path, number in numbered.items()}
    wanted = defaultdict(int)  # exact ones by path, those that samples divide in all
    for (rank, thread, number), metric, nodes, values in cells:
        name = metrics[metric][0]
        for node, value in zip(sum(nodes, []), sum(values, [])):
            path = paths.of(rank, thread, node)
            if name == "samples" and path != () and path[-1][0] == 5:
                continue
            key = None if name in shared and is_computation(path) else path
            wanted[rank, thread, name, key] = (wanted[rank, thread, name, key] + value) % 2**64
    got = defaultdict(int)
    everywhere = defaultdict(int)
    for (rank, thread, name), values in rows.items():
        for number, value in values.items():
            if rank is None:
                continue
            everywhere[name, number] = (everywhere[name, number] + value) % 2**64
            path = path_of[number]
            key = None if name in shared and is_computation(path) else path
            got[rank, thread, name, key] = (got[rank, thread, name, key] + value) % 2**64
    different = [key for key in set(wanted) | set(got) if wanted.get(key, 0) != got.get(key, 0)]
    if different:
        raise Damaged(f"{len(different)} totals are not the sums of the cells, for instance {different[0]}")
    if dict(everywhere) != {(name, number): value for (rank, _, name), values in rows.items() if rank is None for number, value in values.items()}:
        raise Damaged("sums over all threads")
    return {"rows": sum(len(values) for (rank, _, _), values in rows.items() if rank is not None), "paths": index["paths"]}


def main():
    if sys.argv[1:2] == ["--totals"] and len(sys.argv) == 3:
        try:
            print(json.dumps(check_totals(Path(sys.argv[2]))))
        except (Damaged, KeyError, IndexError, struct.error) as error:
            sys.exit(f"read_profile.py: {sys.argv[2]}: {error!r}")
        return
    scan = "--scan" in sys.argv[1:]
    names = [argument for argument in sys.argv[1:] if argument != "--scan"]
    if len(names) != 1:
        sys.exit(__doc__)
    with open(names[0], "rb") as file:
        data = file.read()
    try:
        json.dump(summary(data, scan), sys.stdout)
    except (Damaged, KeyError, IndexError, struct.error) as error:
        sys.exit(f"read_profile.py: {names[0]}: {error!r}")
    print()


if __name__ == "__main__":
    main()
