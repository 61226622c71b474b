"""From a table of scores to what it says of the two classes behind them."""
