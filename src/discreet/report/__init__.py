"""What releases and ledgers say, drawn: made on a machine that never saw the data."""
