import type { Row } from "../protocol/messages";
import { arithmetic, format } from "../app/numbers";

const SAID: Record<string, string> = {
  "at xyz": "Position",
  "at rpy": "Rotation",
  "at quat": "Rotation, quaternion",
  "at_to xyz": "Position in to",
  "at_to rpy": "Rotation in to",
  xyz: "Position",
  com: "Centre of mass",
};

/** How a key of the file is said on the screen: `max_speed_deg` → "Max speed". */
export function keyWords(key: string): string {
  const steps = key.split(".").map((step) => step.replace(/_(deg|mm|cm|g|ms|hz)$/, ""));
  const joined = steps.join(" ").replace(/^live /, "");
  const said = SAID[joined];
  if (said !== undefined) return said;
  const words = joined
    .replace(/^shapes? (?:(\d+) )?/, (_, n?: string) => (n ? `${Number(n) + 1} ` : ""))
    .replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What is allowed, in words; empty where anything is. */
export function rangeWords(row: Row): string {
  const unit = row.unit ? ` ${unitSign(row.unit)}` : "";
  if (row.lo !== null && row.hi !== null) return `${plain(row.lo)} to ${plain(row.hi)}${unit}.`;
  if (row.lo !== null) return `${plain(row.lo)}${unit} or more.`;
  if (row.hi !== null) return `${plain(row.hi)}${unit} or less.`;
  return "";
}

/** What stays in use when a new value is refused. */
export function staysWords(row: Row): string {
  if (row.value === "") return "It stays not set.";
  const unit = row.unit ? ` ${unitSign(row.unit)}` : "";
  if (typeof row.value === "number") return `${plain(row.value)}${unit} stays in use.`;
  const list = typeof row.value === "string" ? numberList(row.value) : null;
  if (list?.length === 2) return `${list.map(plain).join(" to ")}${unit} stays in use.`;
  return `${list ? list.map(plain).join(", ") : String(row.value)} stays in use.`;
}

/** Where a value comes from, in words. */
export function originWords(row: Row): string {
  const cut = row.origin.lastIndexOf(":");
  if (row.source === "default" || cut < 0) return "Not set: the default is in use.";
  const where = `${row.origin.slice(0, cut)}, line ${row.origin.slice(cut + 1)}`;
  return row.changed ? `Changed, not saved: ${where}` : `From ${where}`;
}

export function unitSign(unit: string): string {
  return unit.replace("deg", "°").replaceAll(" ", "·");
}

const SIGNIFICANT = 6;
/** Below this a number is written with an exponent. */
const SMALL = 1e-4;

/** A number with as many digits as it needs. */
export function plain(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < SMALL)
    return value
      .toExponential(SIGNIFICANT - 1)
      .replace(/\.?0+e/, "e")
      .replaceAll("-", "−");
  const digits = size > 0 ? SIGNIFICANT - 1 - Math.floor(Math.log10(size)) : 0;
  const text = format(value, Math.max(0, digits));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** The numbers of a text such as `[0, 0, 0.2]`, or null. */
export function numberList(text: string): number[] | null {
  if (!/^\[.*\]$/.test(text.trim())) return null;
  const items = text
    .trim()
    .slice(1, -1)
    .split(",")
    .map((item) => arithmetic(item.trim()));
  return items.length > 0 && items.every((item) => item !== null) ? items : null;
}

/** Units that can be typed: what they measure, and how many SI units one is. */
const UNITS: Record<string, [string, number]> = {
  rad: ["angle", 1],
  deg: ["angle", Math.PI / 180],
  "°": ["angle", Math.PI / 180],
  m: ["length", 1],
  mm: ["length", 1e-3],
  cm: ["length", 1e-2],
  kg: ["mass", 1],
  g: ["mass", 1e-3],
  s: ["time", 1],
  ms: ["time", 1e-3],
};

/** A typed number in the unit of the row: `30deg` where degrees are meant, `2*45`, `0.5 rad`. */
export function readNumber(text: string, unit: string): number | null {
  const clean = text.replaceAll("−", "-").trim();
  const match = /^(.*?)\s*(rad|deg|°|mm|cm|kg|ms|m|g|s)?$/.exec(clean);
  const value = match?.[1] ? arithmetic(match[1]) : null;
  if (value === null) return null;
  const typed = match?.[2];
  if (typed === undefined) return value;
  const given = UNITS[typed];
  const shown = UNITS[/^[a-z°]+/.exec(unit)?.[0] ?? ""];
  if (!given || !shown || given[0] !== shown[0]) return null;
  // 20 mm are 0.02 m, not 0.02 and a rest of the last bit.
  return given[1] === shown[1] ? value : Number(((value * given[1]) / shown[1]).toPrecision(14));
}

/** A tenth of a number's size, as a power of ten. */
function tenth(size: number): number {
  return 10 ** Math.floor(Math.log10(size) - 1);
}

/** How far one press of an arrow key goes from `now`, in a field that held `held` at first. */
export function stepSize(row: Row, held: number, now: number): number {
  // What it held counts too, so that counting down reaches zero and does not creep up to it.
  const size = held === 0 ? Math.max(Math.abs(now), 1e-3) : Math.max(Math.abs(held), Math.abs(now));
  const fine = tenth(size);
  let usual = fine;
  if (row.lo !== null && row.hi !== null)
    usual = 10 ** Math.floor(Math.log10(Math.max(1e-6, row.hi - row.lo)) - 2);
  else if (/^(deg|°)/.test(row.unit)) usual = 1;
  return held !== 0 && size < usual / 10 ? fine : usual;
}

/** A number some way on, without the rest of the last bit that sums leave. */
export function stepped(from: number, way: number, step: number): number {
  const digits = Math.min(100, Math.max(0, 3 - Math.floor(Math.log10(step))));
  return Number((from + way).toFixed(digits));
}
