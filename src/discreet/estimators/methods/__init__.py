"""What a fit does, method by method, without scikit-learn: declare, choose, plan, release, describe."""
