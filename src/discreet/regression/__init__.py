"""The front door: linear, logistic and Poisson regression by whichever method suits the table and the budget."""
