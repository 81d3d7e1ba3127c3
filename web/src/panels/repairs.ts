import type { Row } from "../protocol/messages";
import { plain, unitSign } from "./attributeWords";

export interface Repair {
  label: string;
  value: string | number;
}

const SWAP = "Swap the two";

/** Why a value was refused, in the units of the field. */
export function refusalWords(row: Row, refusal: { text: string }, ways: Repair[]): string {
  const swap = ways.find((way) => way.label === SWAP);
  if (swap) {
    const [lo, hi] = String(swap.value).slice(1, -1).split(",").map(Number);
    const unit = unitSign(row.unit);
    return `The range starts above its end: ${plain(hi!)} ${unit} is larger than ${plain(lo!)} ${unit}.`;
  }
  // The panel says already what it is about.
  const text = refusal.text.replace(/^[a-z]+ '[^']*': /, "");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Values that would probably do in place of the one that was refused. */
export function repairs(row: Row, tried: string | number | boolean, reason: string): Repair[] {
  const made: Repair[] = [];
  const pair = /^\[\s*([^,\]]+),\s*([^,\]]+)\]$/.exec(String(tried));
  if (pair && /range/.test(row.key) && Number(pair[1]) > Number(pair[2]))
    made.push({ label: SWAP, value: `[${pair[2]}, ${pair[1]}]` });
  const number = typeof tried === "number" ? tried : Number(tried);
  if (String(tried).trim() !== "" && Number.isFinite(number)) {
    if (row.lo !== null && number < row.lo) made.push({ label: `Use ${row.lo}`, value: row.lo });
    if (row.hi !== null && number > row.hi) made.push({ label: `Use ${row.hi}`, value: row.hi });
  }
  const meant = /Did you mean '([^']+)'\?/.exec(reason)?.[1];
  if (meant !== undefined) made.push({ label: `Use ${meant}`, value: meant });
  return made;
}
