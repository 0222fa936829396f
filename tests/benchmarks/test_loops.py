"""The loops that ours is compared with: the same episodes, or they say so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from benchmarks.loops import TRLLoop, Turns, turn_by_turn
from benchmarks.rollout import Recorder, loops_bench
from kit.chat import Chat
from kit.episode import Episode, Task
from kit.models import load_model
from kit.rollout import RolloutConfig, rollout
from papers.agile.env import JigsawEnv
from papers.agile.expert import expert_script
from papers.agile.tasks import training_set
from tiny import TINY
from turn_sandbox import Sandbox


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as box:
        yield box


@pytest.fixture(scope="module")
def tasks() -> list[Task]:
    return training_set(3, seed=0, photo_share=0.0)


def played(box: Sandbox, tasks: list[Task]) -> tuple[list[Episode], Turns]:
    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    policy = Recorder(model, chat, expert_script(0))
    config = RolloutConfig(max_turns=9, max_new_tokens=120, max_episode_tokens=28192, stops=())
    return rollout(policy, chat, tasks, lambda: JigsawEnv(box), config), policy.said


def test_trls_loop_and_generate_play_what_ours_plays(box: Sandbox, tasks: list[Task]) -> None:
    """Ids, masks, actions and pictures of every turn."""
    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    ours, said = played(box, tasks)
    assert [episode.ended for episode in ours] == ["answer"] * 3 and min(len(e.turns) for e in ours) > 3
    theirs = turn_by_turn(model, chat, tasks, lambda: JigsawEnv(box), said, 120)
    trls = TRLLoop(model, chat, said, 120).play(tasks, lambda: JigsawEnv(box))
    for one, two, three in zip(ours, theirs, trls, strict=True):
        assert one.ids == two.ids == three.ids and one.mask == two.mask == three.mask
        assert one.images == two.images == three.images and one.ended == two.ended == three.ended
        assert [t.action for t in one.turns] == [t.action for t in two.turns] == [t.action for t in three.turns]
    assert "generate" not in model.__dict__, "what was patched is as it was"


def test_a_loop_that_shows_the_model_something_else_fails(box: Sandbox, tasks: list[Task]) -> None:
    """An environment whose first picture is another one: the ids are the same, the pictures are not."""

    class Other(JigsawEnv):
        def act(self, action: object) -> object:  # type: ignore[override]
            seen = super().act(action)  # type: ignore[arg-type]
            flipped = [type(p)(p.name, p.image.rotate(180)) for p in seen.images]
            return type(seen)(seen.text, tuple(flipped))

    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    _, said = played(box, tasks)
    with pytest.raises(KeyError):
        turn_by_turn(model, chat, tasks, lambda: Other(box), said, 120)


def test_the_benchmark_compares_in_one_run(box: Sandbox, tasks: list[Task], capsys: pytest.CaptureFixture[str]) -> None:
    torch.set_num_threads(1)
    chat, model = Chat.from_pretrained(TINY), load_model(TINY)
    figures = loops_bench(tasks, model, chat, lambda: JigsawEnv(box), expert_script(0))
    assert list(figures) == ["ours", "generate each turn", "TRL's tool loop"] and min(figures.values()) > 0
    assert "the same 3 episodes in all loops" in capsys.readouterr().out
