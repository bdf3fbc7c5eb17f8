"""Small networks with large cliques, tables drawn with fixed seeds: 27 variables, some 50,000 entries.

`insurance-graph` is the graph of the insurance network (Binder, Koller, Russell and Kanazawa 1997), with tables drawn
at random; in `dense-36` and `dense-50` the graph is drawn, too: up to three parents among the eight variables before.
"""

from __future__ import annotations

import numpy as np

import juncture as jt

INSURANCE = """
    Age 3, SocioEcon 4: Age, RiskAversion 4: Age SocioEcon, GoodStudent 2: Age SocioEcon, OtherCar 2: SocioEcon,
    VehicleYear 2: SocioEcon RiskAversion, MakeModel 5: SocioEcon RiskAversion, HomeBase 4: SocioEcon RiskAversion,
    AntiTheft 2: SocioEcon RiskAversion, SeniorTrain 2: Age RiskAversion, DrivingSkill 3: Age SeniorTrain,
    DrivHist 3: DrivingSkill RiskAversion, DrivQuality 3: RiskAversion DrivingSkill, Mileage 4,
    Antilock 2: MakeModel VehicleYear, Airbag 2: MakeModel VehicleYear, RuggedAuto 3: MakeModel VehicleYear,
    CarValue 5: MakeModel VehicleYear Mileage, Accident 4: DrivQuality Mileage Antilock, ILiCost 4: Accident,
    ThisCarDam 4: RuggedAuto Accident, OtherCarCost 4: RuggedAuto Accident, Cushioning 4: RuggedAuto Airbag,
    MedCost 4: Accident Age Cushioning, Theft 2: CarValue HomeBase AntiTheft, ThisCarCost 4: ThisCarDam CarValue Theft,
    PropCost 4: ThisCarCost OtherCarCost
"""


def build(name: str) -> jt.BayesianNetwork:
    return draw_insurance() if name == "insurance-graph" else draw_network(DRAWN[name])


def draw_insurance() -> jt.BayesianNetwork:
    rng = np.random.default_rng(0)
    variables: dict[str, jt.Variable] = {}
    parts = []
    for line in INSURANCE.split(","):
        head, _, parents = line.partition(":")
        child, num_states = head.split()
        variables[child] = jt.Variable(child, [f"state{code}" for code in range(int(num_states))])
        parts.append(draw_conditional(rng, variables[child], [variables[parent] for parent in parents.split()]))
    return jt.BayesianNetwork(parts)


def draw_network(seed: int) -> jt.BayesianNetwork:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, 27)
    variables = [jt.Variable(f"x{place}", [f"state{code}" for code in range(size)]) for place, size in enumerate(sizes)]
    parts = []
    for place, child in enumerate(variables):
        before = variables[max(0, place - 8) : place]
        chosen = rng.permutation(len(before))[: int(rng.integers(1, 4))]
        parts.append(draw_conditional(rng, child, [before[index] for index in sorted(chosen)]))
    return jt.BayesianNetwork(parts)


def draw_conditional(rng: np.random.Generator, child: jt.Variable, parents: list[jt.Variable]) -> jt.Conditional:
    shape = tuple(parent.num_states for parent in parents)
    return jt.Conditional(child, parents, rng.dirichlet(np.ones(child.num_states), size=shape))


DRAWN = {"dense-36": 36, "dense-50": 50}
NAMES = ["insurance-graph", *DRAWN]
