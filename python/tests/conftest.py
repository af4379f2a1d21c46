# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Each test runs in a folder of its own."""

import pytest

from bayloom import program


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BAYLOOM_STORE", "off")


@pytest.fixture
def bayloom_program():
    """The program; tests that need it are skipped for a package that was built without it."""
    try:
        return program.executable()
    except program.CommandFailed as error:
        pytest.skip(str(error))
