"""One-time passwords end, and the machine's owner can always make a new one."""

from __future__ import annotations

import re

from privclust.cli.commands import app
from service.clocks import later
from service.serving import PASSWORD, Serving
from support.command_line import CliRunner


def test_a_one_time_password_that_nobody_uses_ends(serving: Serving) -> None:
    password = serving.accounts.add("cyd", "analyst")
    later(72 * 3600 - 1)
    assert serving.accounts.sign_in("cyd", password)
    later(1)
    assert serving.accounts.sign_in("cyd", password) is None
    again = serving.accounts.reset(serving.accounts.by_name("cyd"))
    assert serving.accounts.sign_in("cyd", again)


def test_a_password_that_somebody_chose_stays(serving: Serving) -> None:
    later(366 * 86_400)
    assert serving.accounts.sign_in("ann", PASSWORD)


def test_the_only_steward_gets_in_again_from_the_command_line(serving: Serving) -> None:
    serving.accounts.set_active(serving.steward, active=False)
    settings = serving.settings
    where = ["--database", settings.database, "--data", settings.data]
    told = CliRunner().invoke(app, ["serve", "reset", "sue", *where])
    password = re.search(r"One-time password of sue, shown only once: (\S+)", told.output)
    assert password
    assert serving.accounts.sign_in("sue", password[1])
    assert serving.accounts.sign_in("sue", PASSWORD) is None


def test_a_reset_of_nobody_is_told_in_one_sentence(serving: Serving) -> None:
    settings = serving.settings
    where = ["--database", settings.database, "--data", settings.data]
    assert "no user of that name" in CliRunner().invoke(app, ["serve", "reset", "x", *where]).output
    assert "whose password" in CliRunner().invoke(app, ["serve", "reset", *where]).output
