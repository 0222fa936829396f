"""The Visual Agents Kit: rollouts, rewards and training for vision-language agents."""

__version__ = "0.1.0"
