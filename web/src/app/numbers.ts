/** Parsing and formatting of numbers. Internally all is SI; degrees and millimeters on screen. */

const UNITS: Record<string, { of: string; factor: number }> = {
  rad: { of: "rad", factor: 1 },
  deg: { of: "rad", factor: Math.PI / 180 },
  "°": { of: "rad", factor: Math.PI / 180 },
  m: { of: "m", factor: 1 },
  mm: { of: "m", factor: 1e-3 },
  cm: { of: "m", factor: 1e-2 },
  s: { of: "s", factor: 1 },
  ms: { of: "s", factor: 1e-3 },
  kg: { of: "kg", factor: 1 },
  g: { of: "kg", factor: 1e-3 },
};

export interface ScreenUnit {
  unit: string;
  /** SI value = factor × number on the screen. */
  factor: number;
  digits: number;
}

/** Display unit of an SI quantity. */
export function screenUnit(si: string, degrees = true): ScreenUnit {
  const turn = Math.PI / 180;
  if (si.startsWith("rad") && degrees) {
    return { unit: si.replace("rad", "°"), factor: turn, digits: 1 };
  }
  if (si === "m") return { unit: "mm", factor: 1e-3, digits: 1 };
  if (si === "rad") return { unit: "rad", factor: 1, digits: 3 };
  return { unit: si.replaceAll(" ", "·"), factor: 1, digits: si === "m/s" ? 3 : 2 };
}

/** A number with a true minus and no negative zero. */
export function format(value: number, digits: number): string {
  if (!Number.isFinite(value)) return "–";
  let text = value.toFixed(digits);
  if (Number(text) === 0) text = (0).toFixed(digits);
  return text.replace("-", "−");
}

/** A number as {@link format} writes it, or in exponential form if it would be zero: `2.1e−10`. */
export function formatFine(value: number, digits: number): string {
  const lost = value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits;
  return lost ? value.toExponential(1).replaceAll("-", "−") : format(value, digits);
}

/** A gap [m], from millimeters down to practically closed. */
export function formatGap(gap: number): string {
  if (gap === 0 || gap >= 1e-6) return `${format(gap * 1e3, 3)} mm`;
  return gap >= 1e-9 ? `${format(gap * 1e9, 0)} nm` : "< 1 nm";
}

/** An SI value as text, for instance `96.0°` or `24.0 mm`. */
export function formatSI(value: number, si: string, degrees = true): string {
  const { unit, factor, digits } = screenUnit(si, degrees);
  const gap = unit.startsWith("°") || unit === "" ? "" : " ";
  return `${format(value / factor, digits)}${gap}${unit}`;
}

/**
 * Parses a field's text to SI; null if it is not a number.
 *
 * Accepts arithmetic (`2*45`, `(1+2)/3`) and a unit at the end (`30deg`, `0.5 rad`); without a unit
 * the number is in the unit of the field.
 */
export function parse(text: string, si: string, degrees = true): number | null {
  const clean = text.trim().replaceAll("−", "-").replaceAll(",", ".").replaceAll("π", "pi");
  const match = /^(.*?)\s*(rad|deg|°|mm|cm|ms|kg|m|s|g)?$/.exec(clean);
  if (!match || !match[1]) return null;
  const value = arithmetic(match[1]);
  if (value === null) return null;
  const word = match[2];
  if (word === undefined) return value * screenUnit(si, degrees).factor;
  const given = UNITS[word];
  if (!given) return null;
  if (given.of !== si) return si.startsWith(`${given.of}/`) ? value * given.factor : null;
  return value * given.factor;
}

/** Evaluates + − * / ^, parentheses and pi; null for any other text. */
export function arithmetic(text: string): number | null {
  const tokens = text.match(/\d*\.?\d+(?:e[+-]?\d+)?|pi|[-+*/^()]/gi);
  if (!tokens || tokens.join("") !== text.replace(/\s+/g, "")) return null;
  let at = 0;
  const fail = Symbol("no number");
  const atom = (): number => {
    const token = tokens[at++];
    if (token === undefined) throw fail;
    if (token === "(") {
      const inside = sum();
      if (tokens[at++] !== ")") throw fail;
      return inside;
    }
    if (token === "-") return -power();
    if (token === "+") return power();
    if (token.toLowerCase() === "pi") return Math.PI;
    const value = Number(token);
    if (Number.isNaN(value)) throw fail;
    return value;
  };
  const power = (): number => {
    const base = atom();
    if (tokens[at] !== "^") return base;
    at++;
    return base ** power();
  };
  const product = (): number => {
    let value = power();
    while (tokens[at] === "*" || tokens[at] === "/") {
      value = tokens[at++] === "*" ? value * power() : value / power();
    }
    return value;
  };
  const sum = (): number => {
    let value = product();
    while (tokens[at] === "+" || tokens[at] === "-") {
      value = tokens[at++] === "+" ? value + product() : value - product();
    }
    return value;
  };
  try {
    const value = sum();
    return at === tokens.length && Number.isFinite(value) ? value : null;
  } catch (error) {
    if (error === fail) return null;
    throw error;
  }
}
