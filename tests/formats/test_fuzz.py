"""Damaged files: every reader gives a model that it can write and read again, or one `FormatError`; nothing else, soon.

The ordinary run is short, and the same every time. `make fuzz` runs for 300 seconds, or JUNCTURE_FUZZ_SECONDS, from a
new seed. JUNCTURE_FUZZ_SEED gives another seed to both. They say where they put the files that broke something.
"""

from __future__ import annotations

import os
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

import juncture as jt
from juncture.errors import FormatError, NotDirectedWarning, RenormalizedWarning
from juncture.formats.files import FORMATS
from juncture.formats.json import write_json
from support.bounded import bounded
from support.builders import random_field, random_network
from support.data_readers import READERS, check_reader
from support.document_examples import KINDS
from support.mutations import mutated

SHORT = 200  # inputs a subject
FORMAT_SEEDS = {
    "bif": [
        '// comment\nnetwork "n" { property p; }\nvariable a { type discrete [ 2 ] { <5, 12+ }; /* x */ property q; }\n'
        'variable "b c" { type discrete[3] { "x y", Asy/Patch, z }; }\nprobability ( a ) { table 0.5, 0.5; }\n'
        'probability ( "b c" | a ) { default 0.25, 0.25, 0.5; (12+) 1e-1 0.2 0.7; property q; }\n',
        "network n { }\nvariable a { type discrete [ 2 ] { x, y }; }\nvariable b { type discrete [ 2 ] { x, y }; }\n"
        "probability ( a | b ) { table 0.1, 0.2, 0.9, 0.8; }\nprobability ( b ) { table 1 0; }\n",
    ],
    "net": [
        'net { name = "n"; }\n% a comment\ndiscrete node a { label = "A \\"a\\""; states = ("<5" "12\\n+"); }\n'
        'node b { states = ("x" "y"); JUNCTURE_name = "b c"; position = (1 2); }\npotential (a) { data = (0.5 0.5); }\n'
        "potential (b | a) { data = (0.5 0.5 0.25 0.75); }\n",
    ],
    "xmlbif": [
        '<?xml version="1.0"?><bif><network><name>n</name><property>p = 1</property><variable><name>a</name>'
        '<type>discrete</type><value>&lt;5</value><value xml:space="preserve"> y </value></variable><!-- x -->'
        "<probability><for>a</for><table>0.5 <!-- y -->0.5</table></probability></network></bif>",
    ],
    "xdsl": [
        '<smile><nodes><cpt id="a"><state id="x"/><state id="y"/><property id="juncture_name">a b</property>'
        '<property id="juncture_state_1">12+</property><probabilities>0.5 0.5</probabilities></cpt><noisymax id="b">'
        '<state id="p"/><state id="q"/><parents>a</parents><strengths>1 0</strengths><parameters>0.5 0.5 0 1 0.1 0.9'
        '</parameters></noisymax><deterministic id="c"><state id="p"/><state id="q"/><parents>a b</parents>'
        "<resultingstates>p q p q</resultingstates></deterministic></nodes><extensions><genie/></extensions></smile>",
    ],
    "dne": [
        '// ~->[DNET-1]->~\nbnet n { comment = "a \\"b\\"\\n\\\n c"; visual V1 { font = font {size= 9;}; };\n'
        "node a { kind = NATURE; discrete = FALSE; levels = (-INFINITY, 1.5, INFINITY); probs = (0.5, 0.5); };\n"
        'node T { kind = CONSTANT; title = "x"; }; node b { states = (x, y); parents = (a); functable = (#1, x); };\n'
        "node c { states = (x, y); inputs = (, b); parents = (a, b);"
        " probs = ((0.5, 0.5), (#0), (1, @imposs), (0, 1)); };\n};\n",
    ],
    "dsc": [
        'belief network "n" properties { type p = string; }\nnode a { name : "A b"; type : discrete[2] ='
        ' { "<5", "12+" }; position : (1, 2); } // x\nnode b { type : discrete [ 2 ] = { "x", "y" }; }\n'
        "probability ( a ) { 0.5, 0.5; }\n"
        "probability ( b | a ) { default : 0.5, 0.5; (1) : 0.25, 0.75; }\n",
    ],
    "fg": ["# x\n2\n\n2\n4 7\n2 3\n2\n0 0.5\n5 1e3\n\n1\n7\n3\n1\n2 .5\n"],
    "uai": ["c a comment\nMARKOV\n3\n2 2 3\n3\n1 0\n2 0 1\n2 1 2\n\n2\n0.4 7\n\n4\n0 1\n2 3\n\n6\n.5 1 1e3 1 0 0\n"],
}


class Subject(NamedTuple):
    """Something that reads files: its suffix, files to damage, and a check that raises when a promise is broken."""

    suffix: str
    seeds_of: Callable[[], list[bytes]]
    check: Callable[[Path], object]

    @property
    def seeds(self) -> list[bytes]:
        return self.seeds_of()


def check_model(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RenormalizedWarning)
        warnings.simplefilter("ignore", NotDirectedWarning)
        warnings.simplefilter("ignore", UserWarning)  # findings of DNE files, rows of DSC files without states
        try:
            model = jt.read(path)
        except FormatError:
            return
    jt.write(model, path)
    again = jt.read(path)
    assert again == model, "what was read does not survive being written and read"
    assert again.variables == model.variables, "the order of variables does not survive"


@cache
def model_seeds(file_format):
    """Bundled networks, models of every kind, and what only this format has."""
    models = [jt.example(name) for name in jt.examples() if name != "alarm"]
    models += [random_network(np.random.default_rng(seed)) for seed in range(6)]
    models += [random_field(np.random.default_rng(seed)) for seed in range(3)]
    seeds = [text.encode() for text in FORMAT_SEEDS.get(file_format.name, [])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for model in models:
            try:
                seeds.append(file_format.writer()(model).encode())
            except FormatError:
                continue  # most formats have no Markov networks
    return seeds


def check_document(path):
    try:
        model = jt.read(path)
    except FormatError:
        return
    jt.write(model, path)
    assert jt.read(path) == model, "what was read does not survive being written and read"


def seeds_of_reader(reader):
    return reader.seeds


def seeds_of_other_models():
    models = [model for kind, make in KINDS.items() if kind != "networks" for model in make()]
    return [write_json(model).encode() for model in models]


SUBJECTS = {
    "json of other models": Subject(".json", seeds_of_other_models, check_document),
    **{item.name: Subject(item.suffixes[0], partial(model_seeds, item), check_model) for item in FORMATS},
    **{
        name: Subject(reader.suffix, partial(seeds_of_reader, reader), partial(check_reader, reader))
        for name, reader in READERS.items()
    },
}


def broken(subject, data, folder):
    """What went wrong with this input, or nothing; the file is kept in the first case."""
    path = Path(folder, f"input{subject.suffix}")
    path.write_bytes(data)
    try:
        with bounded(30, 600):
            subject.check(path)
    except Exception as error:  # noqa: BLE001  whatever it is, it is a finding
        return error
    return None


def report(name, data, error, folder):
    """Keep a file that broke something, and say what and where."""
    path = Path(folder, f"{name}_{zlib.crc32(data):08x}{SUBJECTS[name].suffix}")
    path.write_bytes(data)
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{path}: {type(error).__name__} at {Path(where.filename).name}:{where.lineno}: {str(error)[:300]}"


def new_seed():
    return int(os.environ.get("JUNCTURE_FUZZ_SEED", time.time_ns() % 10**9))


@pytest.mark.parametrize("name", SUBJECTS)
def test_damaged_files_are_read_or_refused(name, tmp_path):
    subject, random = SUBJECTS[name], Random(f"{name} {os.environ.get('JUNCTURE_FUZZ_SEED', '0')}")
    seeds = subject.seeds
    for _ in range(SHORT):
        data = mutated(random, random.choice(seeds), seeds)
        error = broken(subject, data, tmp_path)
        assert error is None, report(name, data, error, tempfile.gettempdir())


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_undamaged_files_are_read(name, tmp_path):
    for data in SUBJECTS[name].seeds:
        assert broken(SUBJECTS[name], data, tmp_path) is None


@pytest.mark.fuzz
def test_damaged_files_for_long(capsys, tmp_path):
    seconds = float(os.environ.get("JUNCTURE_FUZZ_SECONDS", "300"))
    seed = new_seed()
    kept = Path(tempfile.mkdtemp(prefix="juncture_fuzz_"))
    with capsys.disabled():
        print(f"\nfuzzing for {seconds:g} s; JUNCTURE_FUZZ_SEED={seed}; files that break something go to {kept}")  # noqa: T201
    random, names, count = Random(seed), list(SUBJECTS), 0
    seeds = {name: subject.seeds for name, subject in SUBJECTS.items()}
    found: dict[str, str] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name = names[count % len(names)]
        subject, count = SUBJECTS[name], count + 1
        data = mutated(random, random.choice(seeds[name]), seeds[name])
        error = broken(subject, data, tmp_path)
        if error is not None:
            message = report(name, data, error, kept)
            found.setdefault(f"{name} {message.partition(': ')[2][:80]}", message)
    with capsys.disabled():
        print(f"{count:,} files tried")  # noqa: T201
    assert not found, "\n".join(found.values())
