"""Linear-Gaussian state-space models: the model, the Kalman filter and smoother, and learning by EM."""
