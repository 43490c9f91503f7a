"""The picture of the machine in the page is the one that `libprofile report --machine --format svg` draws."""

import shutil
import subprocess
import xml.etree.ElementTree as xml

from expectations import expect, expect_equal, test

SVG = "{http://www.w3.org/2000/svg}"


def made_up(context, name, *words):
    folder = context.work / name
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([f"{context.options.build}/tests/unit/task_profile", folder, *words], check=True)
    return folder


@test
def the_machine_in_the_page_is_the_one_that_the_report_draws(context):
    folder = made_up(context, "machine", "places", "4", "4", "4", "9")  # four nodes, and nine threads, of which the last one was seen nowhere
    drawn = subprocess.run([context.options.tool, "report", folder, "--machine", "--format", "svg"], capture_output=True, text=True, check=True).stdout
    texts = [element.text for element in xml.fromstring(drawn).iter(SVG + "text")]
    for text, count in (("rank 0", 8), ("thread 7", 1), ("thread 8", 0), ("NUMA node 3, 1.00 GiB", 1), ("package 2", 1), ("core 8", 1), ("18", 3)):
        expect_equal(texts.count(text), count, f"how often {text!r} is in {texts}")  # 18: a processor, and two distances
    seen = context.look(context.view(folder), "machine")
    expect_equal(seen["hidden"], False, "whether the section is hidden")
    expect_equal(seen["texts"], texts, "texts of the picture")
    expect_equal(seen["saved"], drawn, "the picture that is saved")
    expect(seen["width"] == int(xml.fromstring(drawn).get("width")), f"the picture is {seen['width']} pixels wide")
    unknown = context.look(context.view(made_up(context, "no-machine", "seidel", "4", "4", "2")), "machine")
    expect_equal((unknown["hidden"], unknown["texts"]), (True, []), "a profile without the machine")
