import { Euler, Quaternion } from "three";
import { paced } from "../app/throttle";
import { format, screenUnit } from "../app/numbers";
import { historyOf, valueOf, watch } from "../app/signals";
import { store } from "../app/store";
import { on } from "../app/topics";
import { SignalHistory } from "../app/signalHistory";
import { button } from "../ui/button";
import { h, setText } from "../ui/dom";
import { saveBlob } from "../ui/saveFile";
import { quote, toCsv } from "./csv";

/** A value of the state: its name, its unit, its value in SI units. */
interface Cell {
  unit: string;
  value: () => number | null;
  /** Its signal, if there is one. */
  signal: string | null;
}

interface Row {
  name: string;
  cells: (Cell | null)[];
}

interface Content {
  head: string[];
  rows: Row[];
}

function cellOf(signal: string | null): Cell | null {
  const found = store.scene?.signals.find((s) => s.name === signal);
  return found ? { unit: found.unit, value: () => valueOf(found.name), signal: found.name } : null;
}

/** Positions, speeds, accelerations, efforts and targets of all joints; a row per dof. */
export function jointStates(): Content {
  const rows = (store.scene?.joints ?? []).flatMap((joint) =>
    joint.dofs.map((dof) => ({
      name: joint.dofs.length > 1 ? `${joint.name}.${dof.name}` : joint.name,
      cells: [
        dof.signal,
        dof.speed_signal,
        dof.speed_signal?.replace(/speed$/, "acceleration") ?? null,
        dof.effort_signal,
        dof.target_signal,
      ].map(cellOf),
    })),
  );
  return { head: ["joint", "position", "speed", "acceleration", "effort", "wanted"], rows };
}

/** State tables, 3×6, of the scene's motion sensors: torso, feet, a tool. */
export function motionStates(): Content {
  const columns = ["x", "y", "z", "phi", "psi", "theta"];
  const rows = (store.scene?.sensors ?? [])
    .filter((sensor) => sensor.type === "motion")
    .flatMap((sensor) =>
      ["", "_speed", "_acceleration"].map((behind) => ({
        name: `${sensor.name}${behind.replace("_", " ")}`,
        cells: columns.map((column) => cellOf(`${sensor.name}.${column}${behind}`)),
      })),
    );
  return { head: ["motion", ...columns], rows };
}

/** Positions and rotations of all moving bodies, in the world. */
export function bodyPoses(): Content {
  const turn = new Quaternion();
  const euler = new Euler();
  const of = (row: number, k: number): number | null => {
    const poses = store.poses;
    if (!poses || poses.length < (row + 1) * 7) return null;
    const [x, y, z, w, i, j, l] = poses.subarray(row * 7, row * 7 + 7);
    if (k < 3) return [x!, y!, z!][k]!;
    // Roll, pitch, yaw about the fixed x, y, z: three's order ZYX.
    euler.setFromQuaternion(turn.set(i!, j!, l!, w!), "ZYX");
    return [euler.x, euler.y, euler.z][k - 3]!;
  };
  const rows = (store.scene?.bodies ?? []).flatMap((body, row) =>
    body.static
      ? []
      : [
          {
            name: body.name,
            cells: Array.from({ length: 6 }, (_, k) => ({
              unit: k < 3 ? "m" : "rad",
              value: () => of(row, k),
              signal: null,
            })),
          },
        ],
  );
  return { head: ["body", "x", "y", "z", "roll", "pitch", "yaw"], rows };
}

/** A live table of the state, which saves its present values or its history. */
export class StateTable {
  readonly element: HTMLElement;
  private readonly table = h("table", { class: "state-table" });
  private content: Content = { head: [], rows: [] };
  private shown: HTMLElement[] = [];
  private readonly nothing: HTMLElement;
  private readonly saves: HTMLButtonElement[];

  constructor(
    private readonly label: string,
    private readonly make: () => Content,
    empty = "Nothing to show.",
  ) {
    this.table.setAttribute("aria-label", label);
    this.nothing = h("p", { class: "empty", hidden: true }, empty);
    const past = button("Save the past as CSV", () => this.save(this.pastCsv(), "past"), "bare");
    const save = button("Save as CSV", () => this.save(this.csv(), "now"));
    this.saves = [save, past];
    this.element = h(
      "div",
      { class: "state", hidden: true },
      h("div", { class: "state-scroll" }, this.table, this.nothing),
      h("div", { class: "state-actions" }, save, past),
    );
    past.hidden = label === "Body poses";
    on(["scene", "units"], () => this.rebuild());
    on(
      ["signals", "poses"],
      paced(() => this.draw()),
    );
  }

  /** Shows or hides it; only visible values are requested. */
  show(seen: boolean): void {
    if (seen === !this.element.hidden) return;
    this.element.hidden = !seen;
    this.rebuild();
  }

  private rebuild(): void {
    const seen = !this.element.hidden && store.scene !== null;
    this.content = seen ? this.make() : { head: [], rows: [] };
    const { head, rows } = this.content;
    watch(
      this.label,
      rows.flatMap((row) => row.cells.flatMap((cell) => cell?.signal ?? [])),
    );
    this.shown = [];
    this.table.hidden = rows.length === 0;
    this.nothing.hidden = rows.length > 0;
    for (const made of this.saves) made.disabled = rows.length === 0;
    const line = (row: Row): HTMLElement => {
      const cells = row.cells.map((cell) => {
        const made = h("td", {});
        if (cell) this.shown.push(made);
        return made;
      });
      return h("tr", { "data-name": row.name }, h("th", { scope: "row" }, row.name), ...cells);
    };
    this.table.replaceChildren(
      h("thead", {}, h("tr", {}, ...head.map((word) => h("th", { scope: "col" }, word)))),
      h("tbody", {}, ...rows.map(line)),
    );
    this.draw();
  }

  private cells(): Cell[] {
    return this.content.rows.flatMap((row) => row.cells.filter((cell) => cell !== null));
  }

  private draw(): void {
    if (this.element.hidden) return;
    this.cells().forEach((cell, i) => {
      const { factor, unit, digits } = screenUnit(cell.unit, store.degrees);
      const value = cell.value();
      setText(
        this.shown[i]!,
        value === null ? "–" : `${format(value / factor, Math.max(2, digits))} ${unit}`,
      );
    });
  }

  /** The table's present values, in SI units. */
  csv(): string {
    const { head, rows } = this.content;
    const lines = rows.map((row) =>
      [quote(row.name), ...row.cells.map((cell) => cell?.value() ?? "")].join(","),
    );
    const units = rows[0]?.cells ?? [];
    const named = head.map((word, k) => {
      const unit = k === 0 ? "" : (units[k - 1]?.unit ?? "");
      const mixed = rows.some((row) => (row.cells[k - 1]?.unit ?? unit) !== unit);
      return quote(unit && !mixed ? `${word} [${unit}]` : word);
    });
    return [named.join(","), ...lines, ""].join("\r\n");
  }

  private pastCsv(): string {
    return toCsv(
      this.cells().map(({ signal, unit }) => ({
        name: signal!,
        unit,
        history: historyOf(signal!) ?? new SignalHistory(),
      })),
    );
  }

  private save(text: string, which: string): void {
    const name = `${store.scene?.name ?? "scene"}-${this.label}-${which}`;
    const file = `${name.toLowerCase().replaceAll(/[^a-z0-9_-]/g, "-")}.csv`;
    saveBlob(new Blob([text], { type: "text/csv" }), file);
  }
}
