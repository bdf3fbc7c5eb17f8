"""Files: one `read_x` / `write_x` pair per format, found by suffix; and the networks that ship with the package.

A reader takes bytes and gives a model: `read_x(data: bytes, rows: RowRepair) -> Model`. A writer takes a model
and gives text: `write_x(model) -> str`. Readers raise `FormatError` with the line; `read` adds the file's name.
To add a format, write such a pair in a file of its own and add a line to `FORMATS` in files.py.

The formats are bif, dne, dsc, fg, json, net, uai, xdsl and xmlbif. What BIF, NET, DSC and DNE share is in blocks.py,
block_tables.py and identifiers.py, what XMLBIF and XDSL share in xml.py, what all share in row_repair.py and losses.py.
"""
