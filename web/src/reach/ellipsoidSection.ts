import type { ReachSetup } from "../protocol/messages";
import { format, formatFine } from "../app/numbers";
import { paced } from "../app/throttle";
import { alike, reach } from "../app/reach";
import { on } from "../app/topics";
import { section } from "../panels/section";
import { h, setText } from "../ui/dom";
import { driving } from "../ui/driving";
import { field, fill, line } from "./fields";
import { COLUMNS, FIGURE, JACOBIAN, LENGTHS } from "./numbers";
import { change } from "./setup";
import { shown } from "./shown";

const KINDS: [ReachSetup["ellipsoid"], string][] = [
  ["velocity", "velocity"],
  ["force", "force"],
  ["dynamic", "acceleration"],
  ["impact", "impact"],
];
const ROWS = ["vx", "vy", "vz", "ωx", "ωy", "ωz"];

/** The manipulability ellipsoid with its figure, and the Jacobian. */
export function ellipsoidSection(): HTMLElement {
  const kind = h("select", { "aria-label": "Kind of ellipsoid" });
  const figure = h("span", { class: "reach-figures", "aria-label": "Manipulability" });
  const axes = h("span", { class: "reach-figures", "aria-label": "Half axes" });
  const table = h("table", { class: "jacobian", "aria-label": "Jacobian" });
  const details = h("details", { class: "jacobian-box" }, h("summary", {}, "Jacobian"), table);
  kind.addEventListener("change", () =>
    change({ ellipsoid: kind.value as ReachSetup["ellipsoid"] }),
  );
  const build = (): void => fill(kind, KINDS, reach.setup?.ellipsoid ?? "velocity");
  const draw = (): void => {
    const n = reach.numbers;
    if (!n) return;
    setText(figure, formatFine(n[FIGURE]!, 4));
    const lengths = [n[LENGTHS]!, n[LENGTHS + 1]!, n[LENGTHS + 2]!];
    setText(axes, lengths.map((a) => (a === Infinity ? "∞" : formatFine(a, 3))).join("  "));
    if (details.open) fillJacobian(table, n);
  };
  details.addEventListener("toggle", draw);
  on("reach", build);
  on("tool", paced(draw));
  build();
  draw();
  return section(
    "Ellipsoid",
    shown("ellipsoid"),
    driving(h("div", { class: "fields" }, field("Of", kind))),
    h("div", { class: "fields" }, line("Figure w", figure), line("Half axes", axes), details),
  );
}

/** Writes the numbers, a row for each of the tool's six velocities. */
function fillJacobian(table: HTMLTableElement, n: Float64Array): void {
  const columns = n[COLUMNS]!;
  const names = reach.columns.map((name) => name.split("/").at(-1) ?? name);
  const head = ["", ...Array.from({ length: columns }, (_, c) => names[c] ?? String(c + 1))];
  const now = table.rows[0] ? [...table.rows[0].cells].map((cell) => cell.textContent) : [];
  if (!alike(head, now)) {
    table.replaceChildren(
      h("tr", {}, ...head.map((word) => h("th", { scope: "col" }, word))),
      ...ROWS.map((row) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, row),
          ...Array.from({ length: columns }, () => h("td", {})),
        ),
      ),
    );
  }
  for (let r = 0; r < 6; r++)
    for (let c = 0; c < columns; c++)
      setText(table.rows[r + 1]!.cells[c + 1]!, format(n[JACOBIAN + r * columns + c]!, 2));
}
