"""What noisy steps are compared with: Frank-Wolfe, two stages, a perturbed objective."""
