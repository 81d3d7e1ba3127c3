"""Draws a world without a graphics card: MuJoCo casts the rays, numpy shades what they hit."""
