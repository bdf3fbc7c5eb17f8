"""The Kalman filter and smoother in square-root form."""
