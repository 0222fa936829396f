"""Mags-RL's format start: an equal share with each network, and the base's own words at the two places."""

from __future__ import annotations

from pathlib import Path

from kit.chat import Chat
from kit.policy.scripted import ScriptedPolicy
from papers.mags_rl.experiment import Play, magnifier
from papers.mags_rl.expert import turns_of
from papers.mags_rl.format_start import demonstrations, rehearsal
from papers.mags_rl.tasks import make_tasks
from tiny import TINY


def test_each_network_has_its_share_of_the_crops(tmp_path: Path) -> None:
    chat, tasks = Chat.from_pretrained(TINY), make_tasks({"attribute/medium": 8}, 3)
    file = tmp_path / "start.jsonl"
    shown = demonstrations(chat, tasks, file, 1.0, ("bicubic", "none"))
    assert [e.task.id for e in shown] == [task.id for task in tasks], "in the order of the tasks"
    widths = {e.turns[0].observation.images[0].image.width for e in shown if e.turns[0].observation}
    assert widths == {70, 140}, "as they are, and enlarged twice"
    assert tuple(turn.text for turn in shown[0].turns) == turns_of(tasks[0], 1.0)
    assert demonstrations(chat, tasks, file, 1.0, ("bicubic", "none"))[0].ids == shown[0].ids, "kept, not played"


def test_the_base_repeats_itself_where_the_agent_will_speak() -> None:
    chat, tasks = Chat.from_pretrained(TINY), make_tasks({"attribute/medium": 3}, 3)
    policy = ScriptedPolicy(chat, lambda episode: f"{episode.task.target[0]}.")
    play = Play(prompt="brief", max_new_tokens=80)
    again = rehearsal(policy, chat, magnifier("bicubic"), tasks, play)
    told = sorted(e.turns[0].text for e in again)
    wanted = [f"<think>{task.meta['seen']}" for task in tasks]
    wanted += [f"<rethink>{task.meta['readings'][task.meta['looks'][0]]}" for task in tasks]
    assert told == sorted(wanted) and {e.ended for e in again} == {"turns"}
