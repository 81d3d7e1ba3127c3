import type { AttributeRow } from "../protocol/messages";
import { arithmetic, format } from "../app/numbers";

const LABELS: Record<string, string> = {
  "at xyz": "Position",
  "at rpy": "Rotation",
  "at quat": "Rotation, quaternion",
  "at_to xyz": "Position in to",
  "at_to rpy": "Rotation in to",
  xyz: "Position",
  com: "Center of mass",
};

/** The label of a key: `max_speed_deg` → "Max speed". */
export function keyWords(key: string): string {
  const steps = key.split(".").map((step) => step.replace(/_(deg|mm|cm|g|ms|hz)$/, ""));
  const joined = steps.join(" ").replace(/^live /, "");
  const label = LABELS[joined];
  if (label !== undefined) return label;
  const inShape = joined.match(/^shapes? (?:\d+ )?(at .*|[a-z]+ .*)$/)?.[1];
  if (inShape !== undefined) return LABELS[inShape] ?? capital(inShape.replace(/^[a-z]+ /, ""));
  return capital(joined.replaceAll("_", " "));
}

/** The heading of the rows of one shape, "Box 2"; empty for other rows. */
export function shapeWords(key: string, kinds: string[]): string {
  const number = key.match(/^shapes\.(\d+)\./)?.[1];
  if (number === undefined) return "";
  return `${capital(kinds[Number(number)] ?? "shape")} ${Number(number) + 1}`;
}

/** Number of shapes of each kind: "7 boxes, 1 sphere". */
export function countWords(kinds: string[]): string {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const plural = (kind: string): string => (/(x|sh)$/.test(kind) ? `${kind}es` : `${kind}s`);
  return [...counts].map(([kind, n]) => `${n} ${n === 1 ? kind : plural(kind)}`).join(", ");
}

function capital(words: string): string {
  const plainWords = words.replaceAll("_", " ");
  return plainWords.charAt(0).toUpperCase() + plainWords.slice(1);
}

/** The allowed values as text; empty if there is no restriction. */
export function rangeWords(row: AttributeRow): string {
  const unit = row.unit ? ` ${unitSign(row.unit)}` : "";
  if (row.lo !== null && row.hi !== null) return `${plain(row.lo)} to ${plain(row.hi)}${unit}.`;
  if (row.lo !== null) return `${plain(row.lo)}${unit} or more.`;
  if (row.hi !== null) return `${plain(row.hi)}${unit} or less.`;
  return "";
}

/** The value that stays in use after a refusal. */
export function staysWords(row: AttributeRow): string {
  if (row.value === "") return "It stays unset.";
  const unit = row.unit ? ` ${unitSign(row.unit)}` : "";
  if (typeof row.value === "number") return `${plain(row.value)}${unit} stays in use.`;
  const list = typeof row.value === "string" ? numberList(row.value) : null;
  if (list?.length === 2) return `${list.map(plain).join(" to ")}${unit} stays in use.`;
  return `${list ? list.map(plain).join(", ") : String(row.value)} stays in use.`;
}

/** Origin of a value as text. */
export function originWords(row: AttributeRow): string {
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

/** A number with the necessary digits. */
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

/** Units that can be typed: their quantity, and their factor to SI. */
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

/** A typed number in the unit of the row: `30deg` for degrees, `2*45`, `0.5 rad`. */
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
  // 20 mm are 0.02 m, without a rounding error in the last bit.
  return given[1] === shown[1] ? value : Number(((value * given[1]) / shown[1]).toPrecision(14));
}

/** A tenth of a number's size, as a power of ten. */
function tenth(size: number): number {
  return 10 ** Math.floor(Math.log10(size) - 1);
}

/** Increment of an arrow key at `now`, in a field that had `held` at first. */
export function stepSize(row: AttributeRow, held: number, now: number): number {
  // The initial value counts too, so that counting down reaches zero.
  const size = held === 0 ? Math.max(Math.abs(now), 1e-3) : Math.max(Math.abs(held), Math.abs(now));
  const fine = tenth(size);
  let usual = fine;
  if (row.lo !== null && row.hi !== null)
    usual = 10 ** Math.floor(Math.log10(Math.max(1e-6, row.hi - row.lo)) - 2);
  else if (/^(deg|°)/.test(row.unit)) usual = 1;
  return held !== 0 && size < usual / 10 ? fine : usual;
}

/** A number plus an increment, without rounding errors in the last bit. */
export function stepped(from: number, way: number, step: number): number {
  const digits = Math.min(100, Math.max(0, 3 - Math.floor(Math.log10(step))));
  return Number((from + way).toFixed(digits));
}
