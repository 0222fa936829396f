"""Every paper's environment as Gymnasium's own classes take it: side by side, copied, pickled or refused by name."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator

import gymnasium
import pytest
from gymnasium.spaces import Text
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from kit.environment import AnyText, Observations, ToolEnv
from kit.episode import Observation
from kit.evaluate.baselines import SingleTurnEnv
from papers.agile.env import JigsawEnv
from papers.codedance.env import CodeDanceEnv
from papers.mags_rl.env import MagsEnv
from papers.mags_rl.zoom import Magnifier
from papers.visual_arft.env import VisualARFTEnv
from turn_sandbox import Sandbox, SandboxError
from visual_tools.super_resolution import super_resolution

NEED_A_SANDBOX: dict[str, Callable[[Sandbox], ToolEnv]] = {
    "agile": JigsawEnv,
    "codedance": CodeDanceEnv,
    "visual_arft": VisualARFTEnv,
}
MAGNIFIER = Magnifier(super_resolution("bicubic", 2))
NEED_NONE: dict[str, Callable[[], ToolEnv]] = {"mags_rl": lambda: MagsEnv(MAGNIFIER), "single turn": SingleTurnEnv}


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox() as made:
        yield made


@pytest.fixture(params=[*NEED_A_SANDBOX, *NEED_NONE])
def make(box: Sandbox, request: pytest.FixtureRequest) -> Callable[[], ToolEnv]:
    made = NEED_A_SANDBOX.get(request.param)
    return (lambda: made(box)) if made else NEED_NONE[request.param]


def test_spaces_are_equal_by_what_they_hold() -> None:
    assert AnyText() == AnyText(seed=3) and Observations() == Observations(seed=3)
    for other in (AnyText(9), Text(64), Observations(), None, "text"):
        assert AnyText() != other
    for other in (AnyText(), gymnasium.spaces.Box(0, 1), None):
        assert Observations() != other
    for space in (AnyText(9), Observations()):
        assert pickle.loads(pickle.dumps(space)) == copy.deepcopy(space) == space
        assert repr(space) in ("AnyText(9)", "Observations()")


def test_several_step_side_by_side(make: Callable[[], ToolEnv]) -> None:
    vector = SyncVectorEnv([make, make])
    seen, _ = vector.reset(seed=0)
    assert [type(one) for one in seen] == [Observation, Observation]
    action = "<think>so</think><answer>no</answer>"
    seen, rewards, terminated, truncated, _ = vector.step([action, action])
    assert (len(seen), list(rewards), list(terminated), list(truncated)) == (2, [0, 0], [True, True], [False, False])
    vector.close()


def test_several_step_in_processes_of_their_own() -> None:
    def make() -> ToolEnv:
        return CodeDanceEnv(Sandbox(workers=1).start())

    vector = AsyncVectorEnv([make, make], shared_memory=False)
    try:
        vector.reset(seed=0)
        code = "<think>so</think><code>x = 1\nx, 2</code>"
        seen, _, terminated, _, _ = vector.step([code, "<think>so</think><answer>no</answer>"])
        assert (seen[0].text, list(terminated)) == ("<interpreter>(1, 2)", [False, True])
    finally:
        vector.close()


def test_a_sandbox_of_another_process_is_refused_by_name(box: Sandbox) -> None:
    vector = AsyncVectorEnv([lambda: CodeDanceEnv(box)], shared_memory=False, context="fork")
    vector.reset(seed=0)
    with pytest.raises(SandboxError, match=r"belongs to process .* start one here"):
        vector.step(["<think>so</think><code>print(1)</code>"])
    vector.close(terminate=True)


def test_a_copy_goes_its_own_way(make: Callable[[], ToolEnv]) -> None:
    env = make()
    env.reset(seed=1)
    env.close()
    other = copy.deepcopy(env)
    assert vars(other).keys() == vars(env).keys() and other.np_random is not env.np_random
    assert env.reset()[0].text == other.reset()[0].text, "the draw goes on from the same state in each"
    assert other.task.target == env.task.target and not [t for t in other.toolset.values() if t in env.toolset.values()]
    env.close()
    assert other.step("<think>so</think><answer>no</answer>")[2]
    other.close()


@pytest.mark.parametrize("name", [*NEED_A_SANDBOX, "mags_rl"])
def test_within_an_episode_none_is_copied_and_what_holds_processes_is_never_pickled(box: Sandbox, name: str) -> None:
    env = NEED_A_SANDBOX[name](box) if name in NEED_A_SANDBOX else NEED_NONE[name]()
    holds = r"\.(box|magnifier) can't be pickled .*: make another environment where one is needed"
    with pytest.raises(TypeError, match=type(env).__name__ + holds):
        pickle.dumps(env)
    env.reset(seed=0)
    with pytest.raises(TypeError, match=f"{type(env).__name__} has an episode's tools open: close"):
        copy.deepcopy(env)
    with pytest.raises(TypeError, match=f"{type(env).__name__}.toolset can't be pickled"):
        pickle.dumps(env)
    env.close()
    with pytest.raises(TypeError, match="a Sandbox holds processes and can't be pickled"):
        pickle.dumps(box)


def test_what_holds_no_process_is_pickled() -> None:
    env = pickle.loads(pickle.dumps(SingleTurnEnv()))
    assert env.reset(seed=0)[0].text == SingleTurnEnv().reset(seed=0)[0].text


def test_gymnasium_makes_one_of_its_entry_point(box: Sandbox) -> None:
    gymnasium.register("KitCodeDance-v0", CodeDanceEnv, disable_env_checker=True)
    env = gymnasium.make("KitCodeDance-v0", box=box)
    env.reset(seed=0)
    assert env.step("<think>so</think><code>1, 2</code>")[0].text == "<interpreter>(1, 2)"
    env.close()
    del gymnasium.registry["KitCodeDance-v0"]


WRONG = "<think>so</think><answer>no</answer>"


@pytest.mark.parametrize("text", ["<think>so</think><code>x = 1</code>", WRONG, "nothing", ""])
def test_a_step_outside_of_an_episode_is_refused_and_blamed_on_no_text(make: Callable[[], ToolEnv], text: str) -> None:
    """Told as an observation, it would be the agent's; and what has been answered could be answered again."""
    env = make()
    refused = pytest.raises(
        gymnasium.error.ResetNeeded, match=r"Env\.step: no episode is running; reset\(\) begins one"
    )
    with refused:
        env.step(text)
    for _ in range(2):
        env.reset(seed=1)
        assert env.step(WRONG)[1:3] == (0.0, True)
        with refused:
            env.step(text)
    env.reset(seed=1)
    env.close()
    with refused:
        env.step(text)


def test_a_turn_without_an_action_goes_on_or_ends_the_episode(box: Sandbox) -> None:
    goes_on, ends = JigsawEnv(box, on_no_action="tell"), JigsawEnv(box)
    for env in (goes_on, ends):
        env.reset(seed=1)
        env.step("nothing")
    assert goes_on.step(WRONG)[2]
    with pytest.raises(gymnasium.error.ResetNeeded):
        ends.step(WRONG)


@pytest.mark.parametrize(
    "options", [{"tsak": None}, {"task": None, "level": 3}, {"task": "red"}, {"task": {}}, {"seed": 1}]
)
def test_options_that_arent_understood_start_no_other_task(
    make: Callable[[], ToolEnv], options: dict[str, object]
) -> None:
    env = make()
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"reset\(options=.*the only option is 'task'"):
        env.reset(options=options)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(WRONG)  # nor does the task before go on
    for none in (None, {}, {"task": None}):
        assert env.reset(seed=1, options=none)[1] == {"task": env.task.id}
    env.close()
