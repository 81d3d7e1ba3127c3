const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Elapsed time as text; both times in seconds since 1970. */
export function ago(when: number, now: number): string {
  const past = now - when;
  if (past < MINUTE) return "just now";
  if (past < HOUR) return `${Math.floor(past / MINUTE)} min ago`;
  if (past < DAY) return `${Math.floor(past / HOUR)} h ago`;
  if (past < 2 * DAY) return "yesterday";
  return new Date(when * 1000).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}
