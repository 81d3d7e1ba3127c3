"""Virtual hardware: ports, the buses behind them and the processes that serve them."""
