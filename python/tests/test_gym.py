"""Environments of Gymnasium."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

gymnasium = pytest.importorskip("gymnasium")
numpy = pytest.importorskip("numpy")

import xrsim
from xrsim.gym import SchedulingEnv, SchedulingVectorEnv

SCENARIOS = list(xrsim.lists("scenarios")["scenario"])


def play(env: Any, seed: int, choose: Any) -> tuple[float, dict[str, float], int]:
    _, info = env.reset(seed=seed)
    total, n_invalid, over = 0.0, 0, False
    while not over:
        _, reward, over, _, info = env.step(choose(info["action_mask"]))
        total += reward
        n_invalid += info["invalid"]
    return total, info["scores"], n_invalid


@pytest.mark.parametrize(
    "names", [{}, {"drops": True}, {"layers": True}, {"scheduler": {"preemption": "layer-boundary"}}]
)
def test_gymnasium_finds_nothing_wrong(names: dict[str, Any]) -> None:
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make("xrsim/Scheduling-v0", scenario="AR_gaming", system="J", pes=4096, **names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_rewards_add_up_to_the_score(scenario: str) -> None:
    # The order of additions differs: a few units in the last place.
    for system in ("J", "A"):
        env = SchedulingEnv(scenario, system, 4096, drops=True, flexibility="none")
        env.action_space.seed(1)
        for seed in range(50):
            total, scores, n_invalid = play(env, seed, env.action_space.sample)
            assert abs(total - scores["score_executed_mean"]) < 1e-12, (system, seed)
            assert n_invalid == 0


@pytest.mark.parametrize("never", ["excluded", "one", "zero"])
def test_models_that_are_never_triggered_count_as_in_a_run(never: str) -> None:
    names: dict[str, Any] = {"duration": 100.0, "set": {"score.never_triggered": never}}
    env = SchedulingEnv("AR_Assistant", "J", 4096, **names)
    for seed in range(20):
        total, scores, _ = play(env, seed, lambda mask: int(numpy.argmax(mask)))
        assert abs(total - scores["score_executed_mean"]) < 1e-12


def test_equal_decisions_have_the_scores_of_a_run() -> None:
    # On one accelerator, the first slot is the request that arrived first.
    env = SchedulingEnv("AR_gaming", "A", 4096)
    results = xrsim.run("AR_gaming", "A", 4096, scheduler="fcfs", replications=50)
    _, info = env.reset(seed=0)
    for index in range(50):
        over = False
        while not over:
            # The last action waits, and is always allowed.
            _, _, over, _, info = env.step(int(numpy.argmax(info["action_mask"])))
        for name, value in info["scores"].items():
            assert value == results.scores[name][index], (name, index)
        _, info = env.reset()


def test_the_vector_is_equal_to_single_environments() -> None:
    n = 6
    for names in ({}, {"drops": True, "slots": 3}, {"reward": "deadline"}, {"reward": lambda ended: float(len(ended))}):
        vector = SchedulingVectorEnv(n, "VR_gaming", "J", 4096, duration=200.0, **names)
        singles = [SchedulingEnv("VR_gaming", "J", 4096, duration=200.0, **names) for _ in range(n)]
        random = numpy.random.default_rng(0)
        observations, info = vector.reset(seed=3)
        infos = [env.reset(seed=3, options={"replication": at})[1] for at, env in enumerate(singles)]
        replications = list(range(n))
        n_ended = 0
        for _ in range(250):
            actions = [int(random.choice(numpy.flatnonzero(mask))) for mask in info["action_mask"]]
            observations, rewards, ends, _, info = vector.step(numpy.array(actions))
            for at, env in enumerate(singles):
                observation, reward, over, _, infos[at] = env.step(actions[at])
                assert reward == rewards[at] and over == ends[at]
                if over:
                    n_ended += 1
                    assert (info["final_obs"][at] == observation).all()
                    assert info["final_info"]["scores"][at] == infos[at]["scores"]
                    replications[at] += n
                    observation, infos[at] = env.reset(options={"replication": replications[at]})
                assert (observations[at] == observation).all()
                assert (info["action_mask"][at] == infos[at]["action_mask"]).all()
        assert n_ended >= n


def test_many_environments_step_on_threads_as_on_one() -> None:
    few, many = SchedulingVectorEnv(8, "AR_gaming", "J", 4096), SchedulingVectorEnv(1200, "AR_gaming", "J", 4096)
    few.reset(seed=0)
    many.reset(seed=0)
    first = [numpy.zeros(8, int), numpy.zeros(1200, int)]
    for _ in range(20):
        one, other = few.step(first[0]), many.step(first[1])
        assert (one[0] == other[0][:8]).all() and (one[1] == other[1][:8]).all()


def test_a_masked_action_waits_and_is_told() -> None:
    env = SchedulingEnv("AR_gaming", "J", 4096)
    _, info = env.reset(seed=0)
    masked = int(numpy.flatnonzero(info["action_mask"] == 0)[0])
    waited, invalid = SchedulingEnv("AR_gaming", "J", 4096), env
    waited.reset(seed=0)
    one, other = waited.step(waited._envs.wait), invalid.step(masked)
    assert other[4]["invalid"] and not one[4]["invalid"]
    assert (one[0] == other[0]).all() and one[1] == other[1]


def test_seeds_give_equal_draws_and_resets_go_on() -> None:
    env = SchedulingEnv("AR_Assistant", "J", 4096)
    def first(mask: Any) -> int:
        return int(numpy.argmax(mask))

    one = [play(env, 5, first)[0]]
    _, info = env.reset()
    over, total = False, 0.0
    while not over:
        _, reward, over, _, info = env.step(first(info["action_mask"]))
        total += reward
    assert total != one[0]
    assert play(env, 5, first)[0] == one[0]


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="allowed is one"):
        SchedulingEnv(["AR_gaming", "VR_gaming"], "J", 4096)
    with pytest.raises(ValueError, match="allowed is score, deadline or a function"):
        SchedulingEnv(reward="nothing")
    for n, slots in ((1, 0), (0, 1), (-1, 1), (1 << 20, 4096)):
        with pytest.raises(ValueError, match="allowed"):
            SchedulingVectorEnv(n, slots=slots)
    with pytest.raises(ValueError, match="replication is -1"):
        SchedulingEnv().reset(options={"replication": -1})
    with pytest.raises(xrsim.UnknownNameError):
        SchedulingEnv("nowhere")
    env = SchedulingEnv()
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)
