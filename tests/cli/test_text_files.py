"""The commands read text files as the library does: a line is a record, or the file is refused."""

import gzip

import pytest

import discreet as dp

FORMULA = "income ~ age + sex"
SCHEMA = ["--schema", "people.toml"]
BUDGET = ["--epsilon", "1", "--ledger", "l.ledger"]
NOTE = "quoted cells may hold line ends: not private against a malformed record"


def with_note(folder, cell):
    """Give each person of the file an undeclared note; one of them is odd."""
    lines = (folder / "people.csv").read_text().splitlines()
    noted = [f"note,{lines[0]}", *(f"{cell if k == 500 else 'fine'},{line}" for k, line in enumerate(lines[1:]))]
    (folder / "people.csv").write_bytes("".join(f"{line}\n" for line in noted).encode())
    (folder / "people.CSV.GZ").write_bytes(gzip.compress((folder / "people.csv").read_bytes()))


@pytest.mark.parametrize("data", ["people.csv", "people.CSV.GZ"])
@pytest.mark.parametrize("adjacency", ["replace", "add-remove"])
def test_no_command_reads_a_file_with_an_open_quote(folder, discreet, data, adjacency):
    """Each ends with the line's number, and no ledger is paid."""
    assert discreet("fit", "people.csv", FORMULA, *SCHEMA, "--epsilon", "1", "-o", "model.json")[0] == 0
    toml = folder / "people.toml"
    toml.write_text(toml.read_text().replace('"replace"', f'"{adjacency}"'))
    with_note(folder, '"said hi')
    ours = [*SCHEMA, *BUDGET, "--total-epsilon", "9"]
    front = ["--method", "auto", *(["--expected-rows", "2000"] if adjacency == "add-remove" else [])]
    for line in (
        ["fit", data, FORMULA, *ours],
        ["fit", data, FORMULA, *ours, *front],
        ["release", data, "--terms", "age", *ours, "-o", "r.json"],
        ["sample", data, "median", "age", *ours],
        ["check", data, *SCHEMA, "--private-output-ok"],
        ["predict", "model.json", data, "-o", "p.csv"],
    ):
        code, out, err = discreet(*line)
        assert (code, out) == (1, "")
        assert f"Line 502 of {data} leaves a quote open" in err
        assert not (folder / "l.ledger").exists() or not dp.Ledger.open("l.ledger").entries
    assert not (folder / "p.csv").exists()


def test_what_the_schema_declares_of_quotes_is_read(folder, discreet):
    """Ordinary quotes are read under quote = "none"; line ends in cells are, and every release says so."""
    toml = folder / "people.toml"
    plain = toml.read_text()
    with_note(folder, '"said hi')
    toml.write_text(plain.replace("[columns.income]", '[reading]\nquote = "none"\n\n[columns.income]'))
    code, out, _ = discreet("fit", "people.csv", FORMULA, *SCHEMA, "--epsilon", "1")
    assert code == 0
    assert NOTE not in out
    (folder / "people.csv").write_bytes((folder / "people.csv").read_bytes().replace(b'"said hi', b'"said\nhi"'))
    toml.write_text(plain.replace("[columns.income]", "[reading]\nnewlines_in_cells = true\n\n[columns.income]"))
    given = ["people.csv", *SCHEMA, "--epsilon", "9"]
    for line in (
        ["fit", given[0], FORMULA, *given[1:], "-o", "a.json"],
        ["fit", given[0], FORMULA, *given[1:], "--method", "descent", "-o", "b.json"],
        ["release", given[0], "--terms", "age", *given[1:], "-o", "c.json"],
        ["sample", given[0], "median", "age", *given[1:], "-o", "d.json"],
        ["sample", given[0], "pca", *given[1:], "-o", "e.json"],
    ):
        code, out, err = discreet(*line)
        assert (code, err) == (0, "")
        assert NOTE in out
        assert NOTE in (folder / line[-1]).read_text()
    assert discreet("report", "a.json", "b.json", "c.json", "d.json", "e.json", "-o", "page.html")[0] == 0
    assert (folder / "page.html").read_text().count(NOTE) >= 5
