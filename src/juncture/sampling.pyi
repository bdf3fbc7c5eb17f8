from juncture.inference.sampling.cutset import CutsetSampling as CutsetSampling
from juncture.inference.sampling.draws import Draws as Draws
from juncture.inference.sampling.log_density import random_walk as random_walk
from juncture.inference.sampling.log_density import sample_log_density as sample_log_density
from juncture.inference.sampling.markov_chains.annealed import AnnealedEstimate as AnnealedEstimate
from juncture.inference.sampling.markov_chains.annealed import (
    annealed_importance_sampling as annealed_importance_sampling,
)
from juncture.inference.sampling.markov_chains.chain_engine import ChainRun as ChainRun
from juncture.inference.sampling.markov_chains.start_chains import start_chains as start_chains
from juncture.inference.sampling.markov_chains.tempering import ParallelTempering as ParallelTempering
from juncture.inference.sampling.markov_chains.transition_matrix import TransitionMatrix as TransitionMatrix
from juncture.inference.sampling.markov_chains.transition_matrix import transition_matrix as transition_matrix
from juncture.inference.sampling.monte_carlo import importance_estimate as importance_estimate
from juncture.inference.sampling.monte_carlo import importance_variance_bound as importance_variance_bound
from juncture.inference.sampling.monte_carlo import monte_carlo as monte_carlo
from juncture.inference.sampling.one_dimension import inverse_transform as inverse_transform
from juncture.inference.sampling.one_dimension import rejection_sample as rejection_sample
from juncture.inference.sampling.one_dimension import slice_sample as slice_sample
from juncture.inference.sampling.particle_filter import ParticleBeliefs as ParticleBeliefs
from juncture.inference.sampling.particle_filter import particle_filter as particle_filter
from juncture.inference.sampling.particle_model import ParticleModel as ParticleModel
from juncture.inference.sampling.particle_model import Proposal as Proposal
from juncture.latent.topics.log_prob import HeldOutScore as HeldOutScore
from juncture.latent.topics.log_prob import left_to_right as left_to_right
