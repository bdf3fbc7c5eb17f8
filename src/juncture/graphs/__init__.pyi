from juncture.graphs.independence import Independence as Independence
from juncture.graphs.trails import Trail as Trail
from juncture.networks.markov_properties import factorizes as factorizes
from juncture.networks.markov_properties import faithfulness_violations as faithfulness_violations
from juncture.networks.markov_properties import markov_violations as markov_violations
