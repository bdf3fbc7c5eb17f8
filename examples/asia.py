"""Ask a bundled network, explain what was seen, and draw it with its beliefs to asia.svg."""

import math

import juncture as jt

model = jt.example("asia")
evidence = {"xray": "yes", "dysp": "yes"}
print(f"{model}\nobserved: {evidence}\n")

beliefs = jt.infer(model, evidence)
prior = jt.infer(model)
for disease in ("tub", "lung", "bronc"):
    print(f"{disease:6} {prior[disease]['yes']:.4f} -> {beliefs[disease]['yes']:.4f}")

print("\nthe three best explanations:")
for best in jt.most_probable(model, evidence, k=3, targets=["tub", "lung", "bronc"]):
    present = [name for name, state in best.assignment.items() if state == "yes"]
    print(f"{math.exp(best.log_prob):.4f}  {' and '.join(present) or 'none of the three'}")

jt.draw(model, beliefs).save("asia.svg")
print("\ndrawn to asia.svg")
