"""Environments of Gymnasium: a step is a decision of the scheduler, an episode a replication of a run.

>>> import gymnasium, xrsim.gym
>>> env = gymnasium.make("xrsim/Scheduling-v0", scenario="AR_gaming", system="J", pes=4096)
>>> observation, info = env.reset(seed=0)
>>> bool(info["action_mask"].any())
True

An action is the number `slot * accelerators + accelerator`, which starts the request in a slot on an accelerator;
`slots * accelerators` waits for the next event. With `drops=True`, `slots * accelerators + 1 + slot` gives a request
up. Slots have the ready requests in the order of `View.ready`. `info["action_mask"]` has a 1 for each action that is
allowed. An action that is not allowed waits, and `info["invalid"]` is True.

An observation has a row of 8 numbers for each slot, a row of 3 for each accelerator, and one number at the end:

| of | numbers, in order |
|---|---|
| slot | 1 if there is a request; slack; time of its rest on the fastest idle accelerator, and on the fastest of all; energy of its rest on the first; time that it has waited; share of the last 64 requests of its model that missed; number of its model |
| accelerator | 1 if it is idle; time to the end of its segment; number of the model that it ran last |
| end | ready requests beyond the slots, over 64 |

Times are relative to the longest relative deadline of the scenario, energies to the one with score 0; both end at 4.
Numbers of models are relative to the number of models.

The reward of a step is what its ended frames add to `score_executed_mean`: the inference score of a frame over the
number of frames of its model that count and the number of models. The sum of an episode is the `score_executed_mean`
that `xrsim run` prints for these decisions, but for the order of additions. `reward="deadline"` gives 1 for a frame in
time and -1 for another one, over the number of frames. A function gets the list of requests that ended, each a dict
of `model`, `frame`, `outcome`, `deadline_ns`, `end_ns` and `score`, and returns a number.

`reset(seed=s)` begins with replication 0 of seed `s`; later resets go on. Equal seeds give all policies equal draws.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence, Union

import gymnasium
import numpy
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from . import _xrsim
from ._arguments import Words

Reward = Union[str, Callable[[Sequence[Mapping[str, Any]]], float]]

_ENDED = ("model", "frame", "outcome", "deadline_ns", "end_ns", "score")

_SLOT_LOW = (0.0, -4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_SLOT_HIGH = (1.0, 4.0, 4.0, 4.0, 4.0, 4.0, 1.0, 1.0)
_ACCELERATOR_HIGH = (1.0, 4.0, 1.0)


class _Envs:
    """Games of the native part, with the spaces of one."""

    def __init__(
        self,
        n: int,
        scenario: Any,
        system: Any,
        pes: int | None,
        slots: int,
        drops: bool,
        reward: Reward,
        layers: bool,
        scheduler: Mapping[str, Any] | None,
        options: Mapping[str, Any],
    ) -> None:
        words = Words("run")
        for name, value in {"scenario": scenario, "system": system, "pes": pes, **options}.items():
            words.add(name, value)
        self.reward_of = reward if callable(reward) else None
        kind = "score" if callable(reward) else reward
        parameters = [f"{name}={value}" for name, value in (scheduler or {}).items()]
        if n < 1 or slots < 1:
            raise ValueError(f"{n} environments with {slots} slots; allowed is 1 or more of each")
        self.native = _xrsim.NativeEnvs(words.all(), parameters, n, slots, drops, kind)
        self.n = n
        self.slots = slots
        actions, self.observed, _, _, accelerators, _, _, self.wait = self.native.sizes
        self.accelerators = accelerators
        self.actions = actions
        low = numpy.array([*_SLOT_LOW * slots, *(0.0,) * (3 * accelerators), 0.0], numpy.float32)
        high = numpy.array([*_SLOT_HIGH * slots, *_ACCELERATOR_HIGH * accelerators, 1.0], numpy.float32)
        self.action_space = spaces.Discrete(actions)
        self.observation_space: spaces.Space[Any] = spaces.Box(low, high, dtype=numpy.float32)
        self.layers = _layers(self.native.layer_latencies) if layers else None
        if self.layers is not None:
            table = spaces.Box(0.0, 1.0, self.layers.shape, numpy.float32)
            self.observation_space = spaces.Dict({"state": self.observation_space, "layers": table})

    def reset(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        given = (options or {}).get("replication")
        if given is not None:
            given = numpy.atleast_1d(given).tolist()
            if any(replication < 0 for replication in given):
                raise ValueError(f"replication is {min(given)}; allowed is 0 or more")
        if seed is not None and not 0 <= seed < 2**64:
            raise ValueError(f"seed is {seed}; allowed is a whole number from 0 to 2^64 - 1")
        self.native.reset(seed, given)

    def arrays(self, observations: bytearray, masks: bytearray) -> tuple[Any, Any]:
        states = numpy.frombuffer(observations, numpy.float32).reshape(self.n, self.observed)
        return states, numpy.frombuffer(masks, numpy.int8).reshape(self.n, self.actions)

    def one(self, state: Any) -> Any:
        """Observation of one environment."""
        return state if self.layers is None else {"state": state, "layers": self.layers.copy()}

    def all(self, states: Any) -> Any:
        """Observation of all environments."""
        if self.layers is None:
            return states
        return {"state": states, "layers": numpy.repeat(self.layers[None], self.n, axis=0)}

    def reward(self, index: int) -> float:
        """Reward of the function for what ended in the last step."""
        assert self.reward_of is not None
        return float(self.reward_of([dict(zip(_ENDED, ended)) for ended in self.native.ended(index)]))


def _layers(latencies: list[list[list[int]]]) -> Any:
    n = max((len(layers) for model in latencies for layers in model), default=0)
    shape = (len(latencies), len(latencies[0]), max(n, 1))
    table = numpy.zeros(shape, numpy.float32)
    for model, rows in enumerate(latencies):
        for at, layers in enumerate(rows):
            table[model, at, : len(layers)] = layers
    return table / max(float(table.max()), 1.0)


class SchedulingEnv(gymnasium.Env):  # type: ignore[misc,type-arg,unused-ignore]
    """A run that an agent schedules.

    >>> from xrsim.gym import SchedulingEnv
    >>> env = SchedulingEnv("AR_gaming", "J", 4096)
    >>> observation, info = env.reset(seed=1)
    >>> total, over = 0.0, False
    >>> while not over:
    ...     action = env.action_space.sample(info["action_mask"])
    ...     observation, reward, over, _, info = env.step(action)
    ...     total += reward
    >>> abs(total - info["scores"]["score_executed_mean"]) < 1e-12
    True

    Arguments:
        scenario, system, pes: The run, as in `xrsim.run`.
        slots: Requests in an observation, 1 to 4096.
        drops: Whether requests can be given up.
        reward: `"score"`, `"deadline"`, or a function.
        layers: Whether an observation is a dict of `state` and `layers`, the latency of every layer relative to the
            longest one, at `[model][accelerator][layer]`.
        scheduler: Options of schedulers, such as `{"preemption": "layer-boundary", "granularity": "layer"}`.
        render_mode: `"ansi"` for a line of text.
        options: Other arguments of `xrsim.run`, such as `set` or `duration`.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}

    def __init__(
        self,
        scenario: Any = "AR_gaming",
        system: Any = "J",
        pes: int | None = 4096,
        *,
        slots: int = 16,
        drops: bool = False,
        reward: Reward = "score",
        layers: bool = False,
        scheduler: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self._envs = _Envs(1, scenario, system, pes, slots, drops, reward, layers, scheduler, options)
        self.action_space = self._envs.action_space
        self.observation_space = self._envs.observation_space
        self.render_mode = render_mode
        self._total = 0.0
        self._begun = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode. `options={"replication": n}` begins with replication `n`."""
        super().reset(seed=seed)
        self._envs.reset(seed, options)
        self._total = 0.0
        self._begun = True
        states, masks = self._envs.arrays(*self._envs.native.observed())
        return self._envs.one(states[0]), {"action_mask": masks[0], "invalid": False}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action. At the end of an episode, `info["scores"]` has the scores of the run."""
        if not self._begun:
            raise RuntimeError("call reset before step")
        envs = self._envs
        reward, is_over, invalid, state, mask, scores = envs.native.step_one(int(action))
        if envs.reward_of is not None:
            reward = envs.reward(0)
        self._total += reward
        info: dict[str, Any] = {"action_mask": numpy.frombuffer(mask, numpy.int8), "invalid": invalid}
        if scores is not None:
            info["scores"] = scores
        return envs.one(numpy.frombuffer(state, numpy.float32)), reward, is_over, False, info

    def render(self) -> str | None:
        """Return a line of text."""
        if self.render_mode != "ansi":
            return None
        now = self._envs.native.now_ms(0)
        time = "end" if now is None else f"{now:.3f} ms"
        return f"{time}: reward so far {self._total:.4f}"


class SchedulingVectorEnv(VectorEnv):  # type: ignore[misc,type-arg,unused-ignore]
    """Many runs that take a step together, in one call. An episode that ends is followed by the next one in the same
    step.

    >>> from xrsim.gym import SchedulingVectorEnv
    >>> envs = SchedulingVectorEnv(4, "AR_gaming", "J", 4096)
    >>> observations, info = envs.reset(seed=0)
    >>> observations.shape[0], info["action_mask"].shape[0]
    (4, 4)

    Arguments are those of `SchedulingEnv`, after the number of environments. Environment `i` plays the replications
    `i`, `i + n`, `i + 2 n` and so on.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        n: int,
        scenario: Any = "AR_gaming",
        system: Any = "J",
        pes: int | None = 4096,
        *,
        slots: int = 16,
        drops: bool = False,
        reward: Reward = "score",
        layers: bool = False,
        scheduler: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self._envs = _Envs(n, scenario, system, pes, slots, drops, reward, layers, scheduler, options)
        self.num_envs = n
        self.single_action_space = self._envs.action_space
        self.single_observation_space = self._envs.observation_space
        self.action_space = batch_space(self.single_action_space, n)
        self.observation_space = batch_space(self.single_observation_space, n)
        self.render_mode = None

    def reset(  # type: ignore[override,unused-ignore]
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode everywhere. `options={"replication": [..]}` gives each environment its replication."""
        super().reset(seed=seed)
        self._envs.reset(seed, options)
        states, masks = self._envs.arrays(*self._envs.native.observed())
        return self._envs.all(states), {"action_mask": masks}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take an action in each environment.

        Where an episode ends, `info["final_obs"]` has its last observation and `info["final_info"]["scores"]` the
        scores of its run; `info["_final_obs"]` says where.
        """
        envs = self._envs
        rewards, ends, invalid, observations, masks, finals = envs.native.step(numpy.asarray(actions).tolist())
        states, mask = envs.arrays(observations, masks)
        reward = numpy.frombuffer(rewards, numpy.float64)
        if envs.reward_of is not None:
            reward = numpy.array([envs.reward(index) for index in range(self.num_envs)])
        terminated = numpy.frombuffer(ends, numpy.bool_)
        info: dict[str, Any] = {"action_mask": mask, "invalid": numpy.frombuffer(invalid, numpy.bool_)}
        if finals:
            final_obs = numpy.full(self.num_envs, None, dtype=object)
            scores = numpy.full(self.num_envs, None, dtype=object)
            for index, observation, named in finals:
                final_obs[index] = envs.one(numpy.frombuffer(observation, numpy.float32))
                scores[index] = named
            info.update(final_obs=final_obs, _final_obs=terminated.copy())
            info.update(final_info={"scores": scores, "_scores": terminated.copy()}, _final_info=terminated.copy())
        return envs.all(states), reward, terminated, numpy.zeros(self.num_envs, bool), info


gymnasium.register("xrsim/Scheduling-v0", entry_point="xrsim.gym:SchedulingEnv", vector_entry_point=None)
