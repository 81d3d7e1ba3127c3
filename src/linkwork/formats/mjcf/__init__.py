"""MJCF: MuJoCo's models, written from parts and scenes."""

from linkwork.formats.mjcf.write import write_mjcf

__all__ = ["write_mjcf"]
