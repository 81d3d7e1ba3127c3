import type { AttributeRow } from "../protocol/messages";
import type { Refusal } from "./attributeRow";
import { plain, unitSign } from "./attributeWords";

export interface Repair {
  label: string;
  value: string | number;
}

const SWAP = "Swap the two";

/** The reason of a refusal, in the units of the field. */
export function refusalWords(
  row: AttributeRow,
  refusal: { text: string },
  choices: Repair[],
): string {
  const swap = choices.find((choice) => choice.label === SWAP);
  if (swap) {
    const [lo, hi] = String(swap.value).slice(1, -1).split(",").map(Number);
    const unit = unitSign(row.unit);
    return `The range starts above its end: ${plain(hi!)} ${unit} is larger than ${plain(lo!)} ${unit}.`;
  }
  // The panel already names the object.
  const text = refusal.text.replace(/^(?:[a-z]+ '[^']*'|[\w.-]+(?:\/[\w.-]+)+): /, "");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Values that would probably be accepted instead. */
export function repairs(row: AttributeRow, { tried, text, avoid }: Refusal): Repair[] {
  const made: Repair[] = [];
  const pair = /^\[\s*([^,\]]+),\s*([^,\]]+)\]$/.exec(String(tried));
  if (pair && /range/.test(row.key) && Number(pair[1]) > Number(pair[2]))
    made.push({ label: SWAP, value: `[${pair[2]}, ${pair[1]}]` });
  const number = typeof tried === "number" ? tried : Number(tried);
  if (String(tried).trim() !== "" && Number.isFinite(number)) {
    const nearest = Math.min(row.hi ?? Infinity, Math.max(row.lo ?? -Infinity, number));
    if (nearest !== number && !avoid.includes(nearest))
      made.push({ label: `Use ${nearest}`, value: nearest });
  }
  const meant = /Did you mean '([^']+)'\?/.exec(text)?.[1];
  if (meant !== undefined) made.push({ label: `Use ${meant}`, value: meant });
  return made;
}
