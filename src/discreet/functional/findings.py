"""What a release of moments says to a reader of a report."""

from __future__ import annotations

from typing import Any

from discreet.privacy.findings import Finding
from discreet.tables.schema.declarations import declared_texts


def finding_of_moments(moments: Any) -> Finding:
    """Return what a release of moments says: its columns; its numbers are for regressions."""
    released = moments.release
    columns = {} if moments.design is None else moments.design.schema.columns
    return Finding(
        title="Moments: one noisy Gram matrix for many regressions",
        asked=(("Terms", ", ".join(moments.names)),),
        event=released.event,
        label=released.label,
        quality=("Every regression among these terms is free: discreet fit MOMENTS FORMULA.",),
        declarations=declared_texts(columns),
        again=(
            f'discreet release DATA --schema SCHEMA --terms "{" + ".join(moments.names)}" --ledger LEDGER -o MOMENTS',
        ),
        notes=released.notes,
    )
