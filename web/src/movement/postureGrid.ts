import { movement } from "../app/movement";
import { format, formatSI, parse, screenUnit } from "../app/numbers";
import { isDriver, store } from "../app/store";
import { h } from "../ui/dom";
import { withTime, withValue, whyNotAt } from "./drafts";
import { complain, edit, selectPosture } from "./edit";
import { movableDofs, type MovableDof } from "./joints";

/** Values of all joints in all postures; a joint with an empty cell is interpolated. */
export class PostureGrid {
  readonly element = h("div", { class: "movement-grid", role: "grid", "aria-label": "Values" });
  private cells: { input: HTMLInputElement; dof: MovableDof; at: number }[] = [];
  private times: HTMLInputElement[] = [];
  private columns: HTMLElement[][] = [];
  private key = "";

  draw(): void {
    const draft = movement.state?.draft;
    if (!draft) return;
    const dofs = movableDofs(store.scene, movement.state?.on ?? "");
    const key = JSON.stringify([
      draft.postures.length,
      dofs.map(({ name }) => name),
      store.degrees,
      store.scene?.version,
    ]);
    if (key !== this.key) {
      this.key = key;
      this.build(dofs, draft.postures.length);
    }
    const off = !isDriver();
    this.times.forEach((input, at) => {
      put(input, format(draft.postures[at]?.time ?? 0, 3).replace(/\.?0+$/, ""));
      input.disabled = off;
    });
    for (const { input, dof, at } of this.cells) {
      const { factor, digits } = screenUnit(dof.dof.unit, store.degrees);
      const value = draft.postures[at]?.joints[dof.name];
      put(input, value === undefined ? "" : format(value / factor, digits));
      input.disabled = off;
      const { lo, hi } = dof.dof;
      const beyond =
        value !== undefined && (value < (lo ?? value) - 1e-9 || value > (hi ?? value) + 1e-9);
      input.setAttribute("aria-invalid", String(beyond));
    }
    this.columns.forEach((column, at) => {
      const chosen = String(at === movement.state?.selected);
      for (const cell of column) cell.setAttribute("aria-selected", chosen);
    });
  }

  private build(dofs: MovableDof[], count: number): void {
    this.cells = [];
    this.columns = Array.from({ length: count }, () => []);
    this.times = this.columns.map((_, at) => this.timeField(at));
    const head = h(
      "div",
      { class: "movement-row head", role: "row" },
      h("span", { role: "columnheader" }, "joint"),
      ...this.times.map((input, at) =>
        this.column(
          at,
          h(
            "span",
            { role: "columnheader", class: "input-box" },
            input,
            h("span", { class: "unit" }, "s"),
          ),
        ),
      ),
    );
    const rows = dofs.map((dof) => this.row(dof, count));
    this.element.replaceChildren(head, ...rows);
  }

  private column(at: number, cell: HTMLElement): HTMLElement {
    this.columns[at]!.push(cell);
    return cell;
  }

  private timeField(at: number): HTMLInputElement {
    const input = field(`Time of posture ${at + 1}`);
    input.addEventListener("focus", () => this.choose(at));
    input.addEventListener("change", () => {
      const draft = movement.state?.draft;
      if (!draft) return;
      const time = parse(input.value, "s");
      const why = time === null ? "Not a time. Try 1.5 or 800ms." : whyNotAt(draft, at, time);
      complain(why);
      if (time !== null && !why)
        edit(withTime(draft, at, time), "time of a posture", { selected: at });
      input.value = input.defaultValue;
      this.draw();
    });
    return input;
  }

  private row(dof: MovableDof, count: number): HTMLElement {
    const { unit } = screenUnit(dof.dof.unit, store.degrees);
    const cells = Array.from({ length: count }, (_, at) => {
      const input = field(`${dof.name} in posture ${at + 1}`);
      input.placeholder = "–";
      this.cells.push({ input, dof, at });
      input.addEventListener("focus", () => this.choose(at));
      input.addEventListener("change", () => this.take(input, dof, at));
      return this.column(
        at,
        h(
          "span",
          { role: "gridcell", class: "input-box" },
          input,
          h("span", { class: "unit" }, unit),
        ),
      );
    });
    return h(
      "div",
      { class: "movement-row", role: "row", "data-joint": dof.name },
      h("span", { role: "rowheader", title: dof.name }, dof.name),
      ...cells,
    );
  }

  private choose(at: number): void {
    if (movement.state?.selected !== at) selectPosture(at);
  }

  private take(input: HTMLInputElement, { name, dof }: MovableDof, at: number): void {
    const draft = movement.state?.draft;
    if (!draft) return;
    const text = input.value.trim();
    const value = text === "" ? null : parse(text, dof.unit, store.degrees);
    const words = (limit: number): string => formatSI(limit, dof.unit, store.degrees);
    let why = "";
    if (text !== "" && value === null) why = `${name}: not a number. Try 30deg or 0.5 rad.`;
    else if (value !== null && dof.lo !== null && value < dof.lo - 1e-9)
      why = `${name} stops at ${words(dof.lo)}; ${words(value)} was rejected.`;
    else if (value !== null && dof.hi !== null && value > dof.hi + 1e-9)
      why = `${name} stops at ${words(dof.hi)}; ${words(value)} was rejected.`;
    else if (value === null && Object.keys(draft.postures[at]?.joints ?? {}).length <= 1)
      why = "A posture names at least one joint. Delete it instead.";
    complain(why);
    if (!why && value !== (draft.postures[at]?.joints[name] ?? null))
      edit(withValue(draft, at, name, value), `${name} of a posture`, { selected: at });
    input.value = input.defaultValue;
    this.draw();
  }
}

/** Shows a text, except in a field that is being edited. */
function put(input: HTMLInputElement, text: string): void {
  if (input.defaultValue !== text) input.defaultValue = text;
  if (document.activeElement !== input && input.value !== text) input.value = text;
}

function field(label: string): HTMLInputElement {
  const input = h("input", {
    type: "text",
    class: "number",
    "aria-label": label,
    spellcheck: "false",
    autocomplete: "off",
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") input.blur();
    if (event.key === "Escape") {
      input.value = input.defaultValue;
      input.blur();
    }
  });
  input.addEventListener("focus", () => input.select());
  return input;
}
