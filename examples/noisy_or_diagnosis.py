"""Many independent causes of few symptoms: a noisy OR needs one number for each cause, not a table."""

import juncture as jt

DISEASES = {"cold": 0.1, "flu": 0.03, "allergy": 0.05, "asthma": 0.02}
SYMPTOMS = {
    "fever": ({"cold": 0.2, "flu": 0.9}, 0.001),
    "sneezing": ({"cold": 0.7, "flu": 0.3, "allergy": 0.8}, 0.01),
    "wheezing": ({"flu": 0.1, "allergy": 0.3, "asthma": 0.9}, 0.005),
}


def binary(name: str) -> jt.Variable:
    return jt.Variable(name, ["no", "yes"])  # the second state is the active one


causes = [jt.Conditional(binary(name), [], [1 - p, p]) for name, p in DISEASES.items()]
effects = [
    jt.NoisyOr(binary(symptom), [binary(name) for name in strengths], list(strengths.values()), leak)
    for symptom, (strengths, leak) in SYMPTOMS.items()
]
model = jt.BayesianNetwork([*causes, *effects])
as_tables = sum(effect.to_table().num_parameters for effect in effects)
as_noisy_ors = sum(effect.num_parameters for effect in effects)
print(f"{model}; the symptoms as tables would take {as_tables} numbers, as noisy ORs {as_noisy_ors}")


def tell(evidence: dict[str, str]) -> None:
    beliefs = jt.infer(model, evidence, targets=list(DISEASES))
    told = ", ".join(f"{name} {beliefs[name]['yes']:.3f}" for name in DISEASES)
    print(f"{evidence or 'before anything is seen'}: {told}")


tell({})
tell({"sneezing": "yes"})
tell({"sneezing": "yes", "wheezing": "yes"})  # allergy explains both
tell({"sneezing": "yes", "wheezing": "yes", "asthma": "yes"})  # asthma explains the wheezing away
