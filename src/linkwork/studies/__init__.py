"""Studies: what is tried on a running scene, and measured."""

from linkwork.studies.step_response import StepResponse, step_response

__all__ = ["StepResponse", "step_response"]
