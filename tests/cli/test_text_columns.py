"""Columns of text that look like something else: a note names them, and the option that reads them so."""

from support.command_line import juncture

DATES = [f"2024-{month:02}-{day:02}" for month in range(1, 6) for day in (1, 11, 21)]
ROWS = [("yn"[row % 2], 30 + row, f"{row},5", date) for row, date in enumerate(DATES)]


def test_learn_names_the_options_and_takes_them(tmp_path):
    cells = [";".join(map(str, row)) for row in [*ROWS, ("y", "NA", "NA", "NA"), ("NA", "50", "1,5", DATES[0])]]
    (tmp_path / "rows.csv").write_text("\n".join(["sick;age;dose;visit", *cells, ""]))
    file = str(tmp_path / "rows.csv")
    run = juncture("learn", file, "--method", "chow-liu")
    assert "the column 'sick' has the state 'NA', by which files mark a missing value; --missing NA reads" in run.err
    assert "the column 'age' holds numbers and the text 'NA', read as a missing value; --states age takes" in run.err
    assert "decimal comma, such as '0,5', so that each different cell is a state; --decimal , reads" in run.err
    assert "the column 'visit' holds dates; it is left out (--keep visit keeps it)\n" in run.err
    assert "identifier" not in run.err  # which says less
    assert "warning" not in run.err  # nothing twice
    options = ("--missing", "NA", "--decimal", ",", "--ignore", "visit")
    learned = str(tmp_path / "learned.json")
    run = juncture("learn", file, "--bins", "2", *options, "--out", learned)
    assert (run.returncode, run.err) == (0, "")
    run = juncture("predict", learned, file, "--target", "sick", "--missing", "NA", "--decimal", ",")
    assert run.returncode == 0
    assert run.err.endswith("are ignored: visit\n")
    assert juncture("fit", learned, file, "--out", learned, *options).returncode == 0
    run = juncture("predict", learned, file, "--target", "sick", "--missing", "NA", "--decimal", ".")
    assert "not '0,5' in line 2 of " in run.err
    assert "--decimal , reads numbers with a decimal comma" in run.err
    run = juncture("learn", file, "--decimal", ";")
    assert (run.returncode, run.err) == (2, "juncture: --decimal: the decimal mark is . or ,; got ';'\n")
