"""Kept for the estimators that import it from here; see `privacy.release`."""

from discreet.privacy.release import settle_adjacency

__all__ = ["settle_adjacency"]
