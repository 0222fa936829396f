"""Fifty tasks of each paper, played by its script in the kit's own loop: what every adapter has to play alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest
from adapted import MAKE, WRONG, N, Played, now_and_then_wrong

from kit.chat import Chat
from kit.data.store import save_tasks
from kit.policy.endpoint import close_turn
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import rollout
from kit.train.experiment import Rollouts
from papers.registry import find_paper, papers
from tiny import TINY


@pytest.fixture(scope="session", params=papers())
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    name = request.param
    data = tmp_path_factory.mktemp(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIT_RUNS", str(tmp_path_factory.mktemp("runs")))
        paper = find_paper(name)
        with paper.open_golden() as golden:
            tasks = list(MAKE[name]())[:N] if name in MAKE else list(golden.tasks)
            save_tasks(data / "train.jsonl", tasks)
            chat = Chat.from_pretrained(TINY)
            config = replace(golden.play, temperature=0.0)
            made: Any = config if isinstance(config, Rollouts) else None
            make = (lambda: made.environment(golden.tools)) if made else lambda: paper.load_environment()()
            script, stops = now_and_then_wrong(golden.script), make().protocol.stops
            policy = ScriptedPolicy(chat, lambda episode: close_turn(script(episode), stops, False)[0])
            episodes = rollout(policy, chat, tasks, make, config)
            first = {episode.turns[0].text for episode in episodes}
            assert {close_turn(text, stops, False)[0] for text in WRONG} <= first, "some begin wrongly"
            values = {one.name: getattr(golden.play, one.name) for one in fields(golden.play)}
            values |= {"allow_unsafe": True} if made else {}
            yield Played(name, data, values, golden, episodes)
