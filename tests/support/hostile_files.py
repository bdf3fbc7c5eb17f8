"""What hostile files are made of: junk, wrong numbers, broken structure, headers that promise too much.

`SMALL`, as each format writes it, is what gets broken. A new format adds its ways to `BROKEN` and `HUGE`.
"""

from __future__ import annotations

import gzip

import juncture as jt

ALPHA, BETA = jt.Variable("alpha", ["no", "yes"]), jt.Variable("beta", ["low", "high"])
SMALL = jt.BayesianNetwork(
    [jt.Conditional(ALPHA, [], [0.25, 0.75]), jt.Conditional(BETA, [ALPHA], [[0.5, 0.5], [0.625, 0.375]])]
)

JUNK = {
    "nothing": b"",
    "a space": b" ",
    "white space": b"\n \t\r\n\f\v\n",
    "a byte order mark": b"\xef\xbb\xbf",
    "a byte order mark and a line end": b"\xef\xbb\xbf\n",
    "half a byte order mark": b"\xef\xbb",
    "all bytes": bytes(range(256)),
    "zeros": b"\0" * 100,
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01",
    "a gzip file by another name": gzip.compress(b"network n { }"),
    "a pickle": b"\x80\x04\x95\x0b\0\0\0\0\0\0\0\x8c\x07network\x94.",
    "a program": b"#!/bin/sh\nexec true\n",
    "a number": b"1",
    "a quote": b'"',
    "brackets": b"{}[]()<>",
    "a comment only": b"// network\n% net\nc BAYES\n<!-- bif -->",
}

# In place of 0.375, and over and over at any place.
NUMBERS = [
    *("nan", "NaN", "-nan", "inf", "Infinity", "-inf", "1e999", "-0.375", "-1e-300", "0x1p-2", "0,375"),
    *("0.3_75", "1_0", "٠.٣٧٥", "０.３７５", "½", "abc", "0.375.0", "1e", "+", "--1", "0.375f", "3/8"),
    *("[0.375]", "(0.375)", "null", "true", "", "0.375 0.375", "0.375, 0.375"),
    *("9" * 400, "1e" + "9" * 400),
]
PIECES = [
    *("a", "0", '"', '""', "\\", "'", "{", "}", "{}", "(", ")", "()", "[", "]", "[]", "[[", "<", ">", "<a>"),
    *("<a/>", "</a>", "<!--", "<![CDATA[", "&", "&amp;", "]]>", ",", ";", ":", "|", "=", "%", "//", "/*"),
    *("/**/", "#", "-", "e", ".", "é", "😀", " ", "\n", "\t", "\r", "0.5 ", "0.5, ", "0.5\n", '"a" ', "; "),
    *("<!DOCTYPE a [", "<?a ", "c ", "\nc ", '{"a": ', '{"a": 1, ', "network n { } ", "variable a { } "),
    *("node a { } ", "BAYES ", "1 ", "nan ", "alpha ", "a=b "),
]

# For each format: how to break the small file in the ways that all formats know, as (old, new) pairs.
BROKEN = {
    "bif": {
        "too few states": ("{ low, high }", "{ low }"),
        "too many states": ("{ low, high }", "{ low, high, higher }"),
        "no states": ("[ 2 ] { low, high }", "[ 0 ] { }"),
        "a missing row": ("  (no) 0.5, 0.5;\n", ""),
        "a variable twice": ("variable beta", "variable alpha"),
        "a state twice": ("low, high", "low, low"),
        "a table twice": ("probability ( beta | alpha )", "probability ( alpha )"),
        "no table": ("probability ( alpha ) {\n  table 0.25, 0.75;\n}\n", ""),
        "an unknown parent": ("| alpha", "| gamma"),
        "its own parent": ("| alpha", "| beta"),
        "a parent twice": ("| alpha", "| alpha, alpha"),
        "a cycle": ("( alpha ) {\n  table 0.25, 0.75;", "( alpha | beta ) {\n  (low) 0.25, 0.75; (high) 0.5, 0.5;"),
    },
    "net": {
        "too few states": ('("low" "high")', '("low")'),
        "too many states": ('("low" "high")', '("low" "high" "higher")'),
        "no states": ('("low" "high")', "()"),
        "a missing row": ("(0.5 0.5)", ""),
        "a variable twice": ("node beta", "node alpha"),
        "a state twice": ('"low" "high"', '"low" "low"'),
        "a table twice": ("potential (beta | alpha)", "potential (alpha)"),
        "no table": ("potential (alpha)\n{\n    data = (0.25 0.75);\n}\n", ""),
        "an unknown parent": ("| alpha", "| gamma"),
        "its own parent": ("| alpha", "| beta"),
        "a parent twice": ("| alpha", "| alpha alpha"),
        "a cycle": ("(alpha)\n{\n    data = (0.25 0.75)", "(alpha | beta)\n{\n    data = (0.25 0.75 0.5 0.5)"),
    },
    "xmlbif": {
        "too few states": ("  <OUTCOME>high</OUTCOME>\n", ""),
        "too many states": ("<OUTCOME>high</OUTCOME>", "<OUTCOME>high</OUTCOME><OUTCOME>higher</OUTCOME>"),
        "no states": ("  <OUTCOME>low</OUTCOME>\n  <OUTCOME>high</OUTCOME>\n", ""),
        "a missing row": ("<TABLE>0.5 0.5\n", "<TABLE>"),
        "a variable twice": ("<NAME>beta</NAME>", "<NAME>alpha</NAME>"),
        "a state twice": ("<OUTCOME>high</OUTCOME>", "<OUTCOME>low</OUTCOME>"),
        "a table twice": ("<FOR>beta</FOR>\n  <GIVEN>alpha</GIVEN>", "<FOR>alpha</FOR>\n  <GIVEN>beta</GIVEN>"),
        "no table": ("  <TABLE>0.25 0.75</TABLE>\n", ""),
        "an unknown parent": ("<GIVEN>alpha", "<GIVEN>gamma"),
        "its own parent": ("<GIVEN>alpha", "<GIVEN>beta"),
        "a parent twice": ("<GIVEN>alpha</GIVEN>", "<GIVEN>alpha</GIVEN><GIVEN>alpha</GIVEN>"),
        "a cycle": ("<TABLE>0.25 0.75</TABLE>", "<GIVEN>beta</GIVEN><TABLE>0.25 0.75 0.5 0.5</TABLE>"),
    },
    "xdsl": {
        "too few states": ('    <state id="high" />\n', ""),
        "too many states": ('<state id="high" />', '<state id="high" /><state id="higher" />'),
        "no states": ('    <state id="low" />\n    <state id="high" />\n', ""),
        "a missing row": ("<probabilities>0.5 0.5\n", "<probabilities>"),
        "a variable twice": ('<cpt id="beta"', '<cpt id="alpha"'),
        "a state twice": ('id="high"', 'id="low"'),
        "a table twice": ("<probabilities>0.25 0.75", "<probabilities>0.25 0.75</probabilities><probabilities>"),
        "no table": ("    <probabilities>0.25 0.75</probabilities>\n", ""),
        "an unknown parent": ("<parents>alpha", "<parents>gamma"),
        "its own parent": ("<parents>alpha", "<parents>beta"),
        "a parent twice": ("<parents>alpha", "<parents>alpha alpha"),
        "a cycle": ("<probabilities>0.25 0.75", "<parents>beta</parents><probabilities>0.25 0.75 0.5 0.5"),
    },
    "uai": {
        "too few states": ("2 2\n", "2 1\n"),
        "too many states": ("2 2\n", "2 3\n"),
        "no states": ("2 2\n", "2 0\n"),
        "a missing row": ("0.5 0.5\n", ""),
        "a variable twice": ("2 0 1\n", "3 0 1 1\n"),
        "a state twice": ("4\n", "8\n"),
        "a table twice": ("2 0 1\n", "2 1 0\n"),
        "no table": ("1 0\n", "0\n"),
        "an unknown parent": ("2 0 1\n", "2 7 1\n"),
        "its own parent": ("2 0 1\n", "2 1 1\n"),
        "a parent twice": ("2 0 1\n", "3 0 0 1\n"),
        "a cycle": ("1 0\n2 0 1\n\n2\n0.25 0.75", "2 1 0\n2 0 1\n\n4\n0.25 0.75 0.5 0.5"),
    },
    "dne": {
        "too few states": ("(low, high)", "(low)"),
        "too many states": ("(low, high)", "(low, high, higher)"),
        "no states": ("(low, high)", "()"),
        "a missing row": ("0.5, 0.5,\n", ""),
        "a variable twice": ("node beta", "node alpha"),
        "a state twice": ("low, high", "low, low"),
        "a table twice": ("(0.25, 0.75);", "(0.25, 0.75); probs = (0.25, 0.75);"),
        "no table": ("\tprobs =\n\t\t(0.25, 0.75);\n", ""),
        "an unknown parent": ("(alpha)", "(gamma)"),
        "its own parent": ("(alpha)", "(beta)"),
        "a parent twice": ("(alpha)", "(alpha, alpha)"),
        "a cycle": ("parents = ();\n\tprobs =\n\t\t(", "parents = (beta);\n\tprobs = (0.5, 0.5, "),
    },
    "dsc": {
        "too few states": ('{ "low", "high" }', '{ "low" }'),
        "too many states": ('{ "low", "high" }', '{ "low", "high", "higher" }'),
        "no states": ('[ 2 ] = { "low", "high" }', "[ 0 ] = { }"),
        "a missing row": ("  (0) : 0.5, 0.5;\n", ""),
        "a variable twice": ("node beta", "node alpha"),
        "a state twice": ('"low", "high"', '"low", "low"'),
        "a table twice": ("probability ( beta | alpha )", "probability ( alpha )"),
        "no table": ("probability ( alpha ) {\n  0.25, 0.75;\n}\n", ""),
        "an unknown parent": ("| alpha", "| gamma"),
        "its own parent": ("| alpha", "| beta"),
        "a parent twice": ("| alpha", "| alpha, alpha"),
        "a cycle": ("( alpha ) {\n  0.25, 0.75;", "( alpha | beta ) {\n  (0) : 0.25, 0.75; (1) : 0.5, 0.5;"),
    },
    "fg": {
        "too few states": ("2 2\n", "2 1\n"),
        "too many states": ("2 2\n", "3 2\n"),
        "no states": ("2 2\n", "2 0\n"),
        "a missing row": ("3 0.375", ""),
        "a variable twice": ("0 1\n", "0 0\n"),
        "a state twice": ("3 0.375", "2 0.375"),
        "a table twice": ("2\n\n1", "1\n\n1"),
        "no table": ("2\n\n1", "3\n\n1"),
        "an unknown parent": ("0 1\n", "0 0.5\n"),
        "its own parent": ("0 1\n", "1 1\n"),
        "a parent twice": ("2\n0 1\n2 2\n", "3\n0 0 1\n2 2 2\n"),
        "a cycle": ("3 0.375", "4 0.375"),  # there are none: an index beyond the table
    },
    "json": {
        "too few states": ('["low", "high"]', '["low"]'),
        "too many states": ('["low", "high"]', '["low", "high", "higher"]'),
        "no states": ('["low", "high"]', "[]"),
        "a missing row": ("[0.5, 0.5],\n", ""),
        "a variable twice": ('"name": "beta"', '"name": "alpha"'),
        "a state twice": ('"low", "high"', '"low", "low"'),
        "a table twice": ('"child": "beta", "parents": ["alpha"]', '"child": "alpha", "parents": ["beta"]'),
        "no table": ('{"kind": "Conditional", "child": "alpha", "parents": [], "values": [0.25, 0.75]},', ""),
        "an unknown parent": ('["alpha"]', '["gamma"]'),
        "its own parent": ('["alpha"]', '["beta"]'),
        "a parent twice": ('["alpha"]', '["alpha", "alpha"]'),
        "a cycle": (
            '"parents": [], "values": [0.25, 0.75]',
            '"parents": ["beta"], "values": [[0.25, 0.75], [0.5, 0.5]]',
        ),
    },
}

# Small files that stand for large things.
TRILLION = 10**12
MANY = range(40)
HUGE = {
    "bif": [
        f"network n {{ }} variable a {{ type discrete [ {TRILLION} ] {{ x }}; }}",
        "network n { }"
        + "".join(f"variable v{i} {{ type discrete [ 2 ] {{ x, y }}; }}" for i in MANY[:30])
        + f"probability ( v0 | {', '.join(f'v{i}' for i in MANY[1:30])} ) {{ default 0.5, 0.5; }}",
    ],
    "net": [
        "net { }"
        + "".join(f'node v{i} {{ states = ("x" "y"); }}' for i in MANY[:30])
        + f"potential (v0 | {' '.join(f'v{i}' for i in MANY[1:30])}) {{ data = (0.5 0.5); }}",
    ],
    "xmlbif": [
        "<BIF><NETWORK>"
        + "".join(f"<VARIABLE><NAME>v{i}</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>" for i in MANY)
        + f"<DEFINITION><FOR>v0</FOR>{''.join(f'<GIVEN>v{i}</GIVEN>' for i in MANY[1:])}<TABLE>1 0</TABLE></DEFINITION>"
        "</NETWORK></BIF>",
    ],
    "xdsl": [
        "<smile><nodes>"
        + "".join(f'<cpt id="v{i}"><state id="x"/><state id="y"/></cpt>' for i in MANY[1:])
        + f'<{kind} id="v0"><state id="x"/><state id="y"/><parents>{" ".join(f"v{i}" for i in MANY[1:])}</parents>'
        f"<{table}>{'1 0 ' * (len(MANY) * 2 - 1)}</{table}></{kind}></nodes></smile>"
        for kind, table in [
            ("cpt", "probabilities"),
            ("noisymax", "parameters"),
            ("deterministic", "resultingstates"),
        ]
    ],
    "uai": [f"{word} 1 {TRILLION} 1 1 0 {TRILLION} 0.5" for word in ("BAYES", "MARKOV")]
    + [
        f"MARKOV {TRILLION} 2 2 1",
        f"MARKOV 2 2 2 {TRILLION} 1 0",
        f"MARKOV 2 2 2 1 {TRILLION} 0",
        f"MARKOV 2 2 2 1 1 0 {TRILLION} 0.5 0.5",
        f"MARKOV 1 {TRILLION} 0",
        "MARKOV 1 1e300 0",
        f"MARKOV 40 {'2 ' * 40} 1 40 {' '.join(map(str, MANY))} {2**40} 0.5",
    ],
    "dne": [
        f"bnet n {{ node a {{ numstates = {TRILLION}; probs = (0.5); }}; }};",
        "bnet n {"
        + "".join(f"node v{i} {{ states = (x, y); probs = (0.5, 0.5); }};" for i in MANY[1:30])
        + f"node v0 {{ states = (x, y); parents = ({', '.join(f'v{i}' for i in MANY[1:30])}); probs = (#0); }}; }};",
    ],
    "dsc": [
        f'belief network "n" node a {{ type : discrete [ {TRILLION} ] = {{ x }}; }}',
        'belief network "n"'
        + "".join(f'node v{i} {{ type : discrete[2] = {{ "x", "y" }}; }}' for i in MANY[:30])
        + f"probability ( v0 | {', '.join(f'v{i}' for i in MANY[1:30])} ) {{ default : 0.5, 0.5; }}",
    ],
    "fg": [
        f"1 1 0 {TRILLION} 1 0 0.5",
        f"{TRILLION} 1 0 2 0",
        f"1 {TRILLION} 0 2 0",
        f"1 1 0 2 {TRILLION} 0 0.5",
        f"1 40 {' '.join(map(str, MANY))} {'2 ' * 40} 1 0 0.5",
    ],
    "json": [
        '{"format": "juncture", "version": 1, "model": "MarkovNetwork", "variables": ['
        + ", ".join(f'{{"name": "v{i}", "states": [0, 1]}}' for i in MANY)
        + '], "factors": [{"scope": ['
        + ", ".join(f'"v{i}"' for i in MANY)
        + '], "values": 0.5}]}',
        '{"format": "juncture", "version": 1, "model": "BayesianNetwork", "variables": [{"name": "a", "dimension": '
        f'{TRILLION}}}], "conditionals": [{{"kind": "Constant", "child": "a", "parents": [], "value": 1}}]}}',
    ],
}
