"""Hooks of MkDocs: the reference pages that the program generates, and pictures that tests keep outside of docs."""

import os
import re
import shlex
import subprocess

from mkdocs.structure.files import File

PROGRAM = shlex.split(os.environ.get("BAROGRAPH", "go run ./cmd/barograph"))
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOLDEN = "results/report/testdata/"
MARK = "<!-- generated -->"


def _run(*args):
    return subprocess.run([*PROGRAM, *args], cwd=ROOT, check=True, capture_output=True, text=True).stdout.rstrip()


def _block(text):
    return f"```text\n{text}\n```\n"


def _commands():
    """The help of every command, in the order of the help."""
    out = []

    def add(path):
        text = _run(*path, "--help")
        if path:
            out.append(f"{'##' if len(path) == 1 else '###'} {' '.join(path)}\n\n" + _block(text))
        in_commands = False
        for line in text.splitlines():
            heading = re.fullmatch(r"([A-Z][A-Za-z ]+):", line)
            if heading:
                in_commands = heading[1] == "Commands" or not path and heading[1] not in ("Usage", "Topics", "Flags")
                continue
            name = re.match(r"  ([a-z]+)  +\S", line)
            if in_commands and name and name[1] not in ("help", "completion"):
                add([*path, name[1]])

    add([])
    return "\n".join(out)


def on_files(files, config):
    for name in sorted(os.listdir(os.path.join(ROOT, GOLDEN))):
        if name.startswith("picture_") and name.endswith(".svg"):
            with open(os.path.join(ROOT, GOLDEN, name), "rb") as f:
                files.append(File.generated(config, "images/" + name, content=f.read()))
    return files


def on_page_markdown(markdown, page, config, files):
    if MARK in markdown:
        name = page.file.src_uri
        made = {
            "reference/commands.md": _commands,
            "reference/engines/index.md": lambda: _block(_run("list", "engines")),
            "reference/linetypes.md": lambda: _block(_run("list", "linetypes")),
            "reference/statistics.md": lambda: _block(_run("list", "statistics")),
        }[name]()
        markdown = markdown.replace(MARK, made)
    return markdown.replace("../../" + GOLDEN, "../images/")
