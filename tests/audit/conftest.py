"""Asserts of the contract say what they compared."""

import pytest

pytest.register_assert_rewrite("audit.contract")
