"""Decision trees and forests as scikit-learn classes."""
