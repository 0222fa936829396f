"""The scripted expert: its words, its moves, and its episodes in the real environment."""

import re
from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest

from kit.chat import Chat
from kit.episode import Episode, Task
from kit.policy.scripted import ScriptedPolicy
from kit.rollout import RolloutConfig, rollout
from papers.agile.demonstrations import action_kind, is_sound
from papers.agile.env import PROTOCOL, JigsawEnv
from papers.agile.expert import GUESS, LOOK, SHORT_STEPS, STEPS, ScriptedExpert, expert_script
from papers.agile.puzzle import with_thumbnails
from papers.agile.tasks import evaluation_set
from pictures.permutations import swaps
from turn_sandbox import Sandbox


def task_of(target: str, m: int = 2) -> Task:
    task = evaluation_set(1, seed=0, m=m, levels=(0,))[0]
    return Task(target, task.images, task.question, tuple(target), task.meta)


def test_the_wording() -> None:
    turns = ScriptedExpert(task_of("BCDA"), np.random.default_rng(0), 3).turns
    assert turns == (
        "<think>A bottom right, B top left, C top right, D bottom left; right order B, C, D, A. "
        "Place 0 needs B, swap 0 and 1.</think>"
        "<code>state[0], state[1] = state[1], state[0]\nobservation_image_1 = observation(state)</code>",
        "<think>Now B, A, C, D; right order B, C, D, A. Place 1 needs C, swap 1 and 2.</think>"
        "<code>state[1], state[2] = state[2], state[1]\nobservation_image_2 = observation(state)</code>",
        "<think>Now B, C, A, D; right order B, C, D, A. Place 2 needs D, swap 2 and 3.</think>"
        "<code>state[2], state[3] = state[3], state[2]\nobservation_image_3 = observation(state)</code>",
        '<think>Every place is right: right order B, C, D, A.</think><answer>["B", "C", "D", "A"]</answer>',
    )


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("target", ["BCDA", "BADC", "ACBD"])
def test_plays_have_the_steps_asked_for_one_operation_a_turn(target: str, steps: int) -> None:
    for seed in range(10):
        turns = ScriptedExpert(task_of(target), np.random.default_rng(seed), steps).turns
        assert len(turns) == steps + 1
        assert all(PROTOCOL.well_formed(turn) for turn in turns)
        codes = [turn.split("<code>")[1] for turn in turns[:-1]]
        assert all(len(re.findall(r"\b(?:observation|crop|zoom)\(", code)) == 1 for code in codes)
        kinds = [action_kind(code) for code in codes]
        assert kinds.count("swap") == len(swaps("ABCD", target))
        assert kinds[0] in ("swap", "observe")  # nothing to crop before something was seen
        # Each picture that is cropped or zoomed was made in an earlier turn, and no name is made twice.
        made: list[str] = []
        for code in codes:
            used = re.findall(r"(?:crop|zoom)\((\w+)", code)
            assert all(name in made for name in used)
            made += re.findall(r"(\w+_image_\d+) = ", code)
        assert len(made) == len(set(made)) == steps


def test_more_swaps_than_steps() -> None:
    turns = ScriptedExpert(task_of("BCDEFGHIA", m=3), np.random.default_rng(0), 4).turns
    assert len(turns) == 8 + 1


def test_a_script_depends_on_seed_and_task_only() -> None:
    tasks = evaluation_set(12, seed=0)
    one = [expert_script(0)(Episode(t, ())) for t in tasks]
    assert one == [expert_script(0)(Episode(t, ())) for t in reversed(tasks)][::-1]
    assert one != [expert_script(1)(Episode(t, ())) for t in tasks]


def small(target: str, m: int = 2) -> Task:
    return with_thumbnails(task_of(target, m), 4)


def test_of_thumbnails_it_looks_first() -> None:
    turns = ScriptedExpert(small("BACD"), np.random.default_rng(0), 1).turns
    assert turns == (
        f"<think>{LOOK}</think><code>observation_image_1 = observation(state)</code>",
        "<think>A top right, B top left, C bottom left, D bottom right; right order B, A, C, D. "
        "Place 0 needs B, swap 0 and 1.</think>"
        "<code>state[0], state[1] = state[1], state[0]\nobservation_image_2 = observation(state)</code>",
        '<think>Every place is right: right order B, A, C, D.</think><answer>["B", "A", "C", "D"]</answer>',
    )


def test_every_short_play_fits_five_turns_and_tells_nothing_before_the_look() -> None:
    shuffles = [small("".join(p)) for p in permutations("ABCD") if "".join(p) != "ABCD"]
    plays = [
        ScriptedExpert(task, np.random.default_rng([seed, k]), SHORT_STEPS[seed % 4]).turns
        for seed in range(9)
        for k, task in enumerate(shuffles)
    ]
    assert len(plays) == 207
    assert {len(turns) for turns in plays} == {3, 4, 5}
    assert {turns[0] for turns in plays} == {
        f"<think>{LOOK}</think><code>observation_image_1 = observation(state)</code>"
    }
    assert all("right order" in turn for turns in plays for turn in turns[1:])


def test_it_guesses_as_often_as_it_is_told_and_never_where_it_sees_the_pieces() -> None:
    shown = small("BADC")
    tasks = [Task(f"t{k}", shown.images, "?", shown.target, shown.meta, shown.originals) for k in range(400)]

    def first(guesses: float, some: list[Task]) -> list[str]:
        return [expert_script(0, SHORT_STEPS, guesses)(Episode(task, ())) for task in some]

    said = [turn for turn in first(0.6, tasks) if GUESS in turn]
    assert abs(len(said) / 400 - 0.6) < 0.1  # four standard deviations
    orders = [re.findall(r'"(\w)"', turn) for turn in said]
    assert all(sorted(order) == list("ABCD") for order in orders)
    assert len({tuple(order) for order in orders}) == 24, "any order, right or wrong"
    assert not any(GUESS in turn for turn in first(0.0, tasks))
    assert all(GUESS in turn for turn in first(1.0, tasks))
    full = [Task(task.id, shown.originals, "?", shown.target, shown.meta) for task in tasks[:20]]
    assert not any(GUESS in turn for turn in first(1.0, full))


def test_misuse_is_named() -> None:
    expert = ScriptedExpert(task_of("BADC"), np.random.default_rng(0), 4)
    with pytest.raises(ValueError, match="asked about task BCDA"):
        expert(Episode(task_of("BCDA"), ()))
    with pytest.raises(ValueError, match="it plays jigsaws"):
        ScriptedExpert(task_of("BADX"), np.random.default_rng(0), 4)


@pytest.mark.parametrize(
    ("tasks", "steps", "looks"),
    [
        (evaluation_set(3, 3, 2, (0, 1, 2)), STEPS, 1),
        (evaluation_set(2, 3, 3, (0, 5)), STEPS, 1),
        ([with_thumbnails(task, 4) for task in evaluation_set(2, 3)], SHORT_STEPS, 4),
    ],
)
def test_every_play_is_sound_in_the_real_environment(
    chat: Chat, box: Sandbox, tasks: list[Task], steps: Sequence[int], looks: int
) -> None:
    limits = RolloutConfig(max_turns=max(steps) + 1, max_new_tokens=400, max_episode_tokens=10**6)
    for episode in rollout(ScriptedPolicy(chat, expert_script(0, steps)), chat, tasks, lambda: JigsawEnv(box), limits):
        assert is_sound(episode) and episode.ended == "answer", [t.observation for t in episode.turns]
        shown = [len(t.observation.images) for t in episode.turns[:-1] if t.observation]
        assert min(steps) <= episode.calls <= max(steps) and shown[0] == looks and len(shown) == episode.calls
