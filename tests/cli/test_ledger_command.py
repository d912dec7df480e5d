"""What `discreet ledger` tells."""

import json

import discreet as dp
from privacy.doubles import gaussian, laplace


def test_the_ledger_is_read_out_in_plain_words(folder, discreet):
    """Entries, total, three deltas, and what an adversary catches; the promise apart from what was spent so far."""
    ledger = dp.Ledger.open("l.ledger", total=dp.Gdp(mu=1), adjacency=dp.Replace())
    ledger.charge(gaussian("1/4", statistic="mean of age"))
    code, out, err = discreet("ledger", "l.ledger")
    assert (code, err) == (0, "")
    promise, so_far = out.split("So far")
    for text in ("Total Gdp(mu=1) under Replace()", "mean of age", "epsilon 4.378 at delta 1e-5", "at delta 1e-9"):
        assert text in promise
    assert "accepts a 5 % false-alarm rate, catches at most 26.0 % of the people" in promise
    assert "catches at most 12.7 % of the people" in so_far
    assert "fixed in advance" in so_far


def test_the_same_is_told_as_json(folder, discreet):
    """Numbers as numbers, deltas as exact texts, no finite epsilon as null."""
    ledger = dp.Ledger.open(
        "l.ledger", total=dp.Approx(epsilon=1, delta="1e-6"), adjacency=dp.AddRemove(), composition="sum"
    )
    ledger.charge(laplace("1/2", adjacency=dp.AddRemove()))
    code, out, _ = discreet("ledger", "l.ledger", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["spent"]["epsilon"] == "1/2"
    total, spent = document["meaning"]["total"], document["meaning"]["spent"]
    assert [row["delta"] for row in total["epsilons"]] == ["1/100000", "1/10000000", "1/1000000000"]
    assert total["epsilons"][0]["epsilon"] <= 1
    assert total["epsilons"][1]["epsilon"] is None
    assert spent["epsilons"][2]["epsilon"] == 0.5
    assert 5 < spent["percent_caught"] < total["percent_caught"] < 15
    assert "whether one person's record is in the data" in total["reading"]
    code, out, _ = discreet("ledger", "l.ledger")
    assert "no finite epsilon at delta 1e-7" in out
