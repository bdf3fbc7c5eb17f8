"""A small Ising model: neighbours on a grid like to agree, and one corner is held up."""

import juncture as jt

SIDE = 3
COUPLING = 0.6


def site(row: int, column: int) -> jt.Variable:
    return jt.Variable(f"x{row}{column}", [-1, 1])


def bond(one: jt.Variable, other: jt.Variable) -> tuple[list[jt.Variable], list[list[float]]]:
    """E(x, y) = -coupling · x · y: low where the two agree."""
    return [one, other], [[-COUPLING * x * y for y in other.states] for x in one.states]


across = [bond(site(row, column), site(row, column + 1)) for row in range(SIDE) for column in range(SIDE - 1)]
down = [bond(site(row, column), site(row + 1, column)) for row in range(SIDE - 1) for column in range(SIDE)]
model = jt.MarkovNetwork.from_energies([*across, *down])
print(f"{model}: log Z = {jt.infer(model).log_evidence:.6f}")

beliefs = jt.infer(model, {"x00": 1})
print("P(up) when the first corner is up:")
for row in range(SIDE):
    print("  ".join(f"{beliefs[f'x{row}{column}'][1]:.4f}" for column in range(SIDE)))

corners = beliefs.joint("x02", "x20")
print(f"correlation of the two corners next to it: {corners.correlation('x02', 'x20'):.4f}")
print(f"most probable with x00 up and x22 down: {jt.most_probable(model, {'x00': 1, 'x22': -1}).assignment}")
