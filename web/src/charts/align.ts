import type { SignalHistory } from "../app/signalHistory";

/**
 * The last `span` seconds of several trails, or those around `middle`, on one time axis, each value
 * divided by its factor.
 */
export function align(
  curves: { history: SignalHistory; factor: number }[],
  span: number,
  middle?: number,
): (number | null)[][] {
  const last = Math.max(...curves.map((c) => c.history.times.at(-1) ?? -Infinity));
  const end = middle === undefined ? last : Math.min(last, Math.max(middle + span / 2, span));
  const windows = curves.map(({ history, factor }) => {
    let stop = history.times.length;
    while (stop > 0 && history.times[stop - 1]! > end) stop--;
    let first = stop;
    while (first > 0 && history.times[first - 1]! >= end - span) first--;
    return {
      times: history.times.slice(first, stop),
      values: history.values.slice(first, stop).map((v) => v / factor),
    };
  });
  const lead = windows[0];
  if (!lead) return [[]];
  const same = windows.every(
    (w) => w.times.length === lead.times.length && w.times[0] === lead.times[0],
  );
  if (same) return [lead.times, ...windows.map((w) => w.values)];
  const times = [...new Set(windows.flatMap((w) => w.times))].sort((a, b) => a - b);
  const rows = windows.map((w) => {
    const known = new Map(w.times.map((t, i) => [t, w.values[i]!]));
    return times.map((t) => known.get(t) ?? null);
  });
  return [times, ...rows];
}
