"""Mathematics that several baselines share."""
