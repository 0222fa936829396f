"""VISTA-Gym: seven families of visual questions, 26 tools, one environment (Lu et al. 2025)."""
