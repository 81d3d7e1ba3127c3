import type { SignalHistory } from "../app/signalHistory";

/** Several signals as one table: a line per time, SI units, an empty cell where there is no value. */
export function toCsv(curves: { name: string; unit: string; history: SignalHistory }[]): string {
  const head = ["time [s]", ...curves.map((c) => `${c.name} [${c.unit || "1"}]`)]
    .map(quote)
    .join(",");
  const times = [...new Set(curves.flatMap((c) => c.history.times))].sort((a, b) => a - b);
  const maps = curves.map((c) => new Map(c.history.times.map((t, i) => [t, c.history.values[i]!])));
  const lines = times.map((t) => [t, ...maps.map((m) => m.get(t) ?? "")].join(","));
  return [head, ...lines, ""].join("\r\n");
}

export function quote(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
