"""A page that `libprofile view --serve` serves: starting it, asking it, and reading the columns of its answers."""

import base64
import json
import re
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib


class Served:
    def __init__(self, tool, folder, *more):
        self.begin = time.monotonic()
        self.process = subprocess.Popen([tool, "view", folder, "--serve", *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.columns = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.said = self.process.communicate(timeout=30)[1]

    def get(self, name, /, **parameters):
        query = urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(f"{self.address}{name}?{query}", timeout=120) as answer:
            return answer.read()

    def status(self, name, /, **parameters):
        try:
            self.get(name, **parameters)
            return 200
        except urllib.error.HTTPError as error:
            return error.code

    def header(self):
        """Of the page; columns are those of the page from now on."""
        page = self.get("").decode()
        self.columns = dict((int(n), text) for n, text in re.findall(r'<script type="text/plain" id="column-(\d+)">([^<]*)</script>', page))
        return json.loads(re.search(r'id="header">(.*?)</script>', page, re.S).group(1))

    def ask(self, name, /, **parameters):
        answer = json.loads(self.get(name, **parameters))
        self.columns = {answer["first"] + i: text for i, text in enumerate(answer["columns"])}
        return answer

    def numbers(self, column):
        numbers, value, shift = [], 0, 0
        for byte in zlib.decompress(base64.b64decode(self.columns[column])):
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                numbers.append(value)
                value = shift = 0
        return numbers

    def memory(self):
        """Peak of resident memory in bytes."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1)) * 1024
