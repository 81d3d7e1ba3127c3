import type { AttributeRow } from "../protocol/messages";
import { busList } from "../app/buses";
import { store, type Thing } from "../app/store";
import { button } from "../ui/button";
import { h } from "../ui/dom";

/** A form that binds a joint to a bus; null if it is bound, or there is no bus. */
export function bindForm(
  thing: Thing,
  rows: AttributeRow[],
  bind: (value: string) => void,
  error: string,
): HTMLElement | null {
  const list = busList();
  if (thing.kind !== "joint" || list.length === 0 || rows.length === 0) return null;
  if (store.scene?.editable === false || store.scene?.replay) return null;
  if (rows.some((row) => row.key.startsWith("bus."))) return null;
  const pick = h(
    "select",
    { "aria-label": "Bus to bind to" },
    ...list.map((bus) => h("option", { value: bus.name }, bus.name)),
  );
  const text = (label: string, value: string): HTMLInputElement =>
    h("input", { type: "text", class: "number", "aria-label": label, value });
  const id = text("Identifier", `0x${freeId(list[0]!.name).toString(16).toUpperCase()}`);
  const bits = text("Bits", "12");
  const isCan = (): boolean => list.find((bus) => bus.name === pick.value)?.kind === "can";
  const row = (words: string, control: HTMLElement): HTMLElement =>
    h(
      "label",
      { class: "field" },
      h("span", { class: "field-label" }, words),
      h("div", { class: "input-box" }, control),
    );
  const idRow = row("Identifier", id);
  const place = (): void => void (idRow.hidden = !isCan());
  pick.addEventListener("change", place);
  place();
  const go = (): void => {
    const keys = list.length > 1 ? [`bus = "${pick.value}"`] : [];
    if (isCan()) keys.push(`can_id = ${id.value.trim()}`);
    if (bits.value.trim()) keys.push(`bits = ${bits.value.trim()}`);
    bind(`{ ${keys.join(", ")} }`);
  };
  return h(
    "details",
    { class: "unset bind-form", open: error !== "" },
    h("summary", {}, "Bind to a bus"),
    list.length > 1 && row("Bus", pick),
    idRow,
    row("Bits", bits),
    error && h("p", { class: "field-error", role: "alert" }, error),
    h("div", { class: "attribute-act" }, button("Bind", go, "raised")),
  );
}

/** The identifier after the highest one of the bus's ports. */
function freeId(bus: string): number {
  const ports = busList().find((each) => each.name === bus)?.ports ?? [];
  const used = ports.flatMap((port) => port.signals.map((signal) => parseInt(signal.address, 16)));
  return Math.max(0, ...used.filter((each) => each < 0x7ff)) + 1;
}
