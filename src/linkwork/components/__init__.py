"""Blocks of the cycle other than engines: sensors, actuators, agents, faults."""
