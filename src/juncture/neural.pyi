from juncture.inference.variational.amortized import amortized_variational as amortized_variational
from juncture.latent.boltzmann.deep.belief_network import DeepBeliefNetwork as DeepBeliefNetwork
from juncture.latent.boltzmann.deep.boltzmann_machine import DeepBoltzmannMachine as DeepBoltzmannMachine
from juncture.latent.energy import EnergyModel as EnergyModel
from juncture.latent.neural.autoencoder import Autoencoder as Autoencoder
from juncture.latent.neural.helmholtz import HelmholtzMachine as HelmholtzMachine
from juncture.latent.neural.variational_autoencoder import VariationalAutoencoder as VariationalAutoencoder
