import { arithmetic, format } from "../app/numbers";
import { paced } from "../app/throttle";
import { reach } from "../app/reach";
import { store } from "../app/store";
import { on } from "../app/topics";
import { section } from "../panels/section";
import { h, setHidden, setText } from "../ui/dom";
import { driving } from "../ui/driving";
import { toast } from "../ui/toast";
import { check, field } from "./fields";
import { ROW } from "./nearLines";
import { change } from "./setup";
import { shown } from "./shown";

/** Maximum number of listed pairs. */
const MOST = 5;
/** Default distance to keep [m]. */
const USUAL = 0.03;

/** Nearby shapes, and the distance that the robot keeps from them. */
export function distanceSection(): HTMLElement {
  const keep = check("Keep a distance", (on) => change({ keep: on ? USUAL : null }));
  const far = h("input", { type: "text", class: "number", "aria-label": "Distance to keep" });
  const how = field("Distance", far, "mm");
  const itself = check("From itself, too", (on) => change({ itself: on }));
  const faces = shown("collisions", "Colliding faces in red");
  const list = h("ul", { class: "near-list", "aria-label": "Nearest pairs" });
  const none = h("p", { class: "empty" }, "Nothing within 300 mm.");
  far.addEventListener("change", () => {
    const value = arithmetic(far.value.trim().replaceAll(",", "."));
    if (value === null || value < 0 || value > 10_000) {
      toast({ level: "warning", text: "A distance is a number of millimeters, 0 or more." });
      write();
    } else change({ keep: value / 1e3 });
  });
  const write = (): void => void (far.value = format((reach.setup?.keep ?? USUAL) * 1e3, 0));
  const build = (): void => {
    const kept = reach.setup?.keep ?? null;
    keep.input.checked = kept !== null;
    itself.input.checked = reach.setup?.itself ?? false;
    setHidden(how, kept === null);
    if (document.activeElement !== far) write();
  };
  const draw = (): void => {
    const rows = reach.near;
    const count = rows ? Math.min(MOST, rows.length / ROW) : 0;
    while (list.children.length < count)
      list.append(h("li", {}, h("span", { class: "near-name" }), h("b", {})));
    Array.from(list.children).forEach((item, n) => {
      setHidden(item as HTMLElement, n >= count);
      if (!rows || n >= count) return;
      const [name, words] = item.children as unknown as [HTMLElement, HTMLElement];
      const mm = rows[n * ROW + 6]! * 1e3;
      setText(name, `${short(rows[n * ROW + 7]!)} – ${short(rows[n * ROW + 9]!)}`);
      setText(words, mm <= 0 ? `collides, ${format(-mm, 1)} mm` : `${format(mm, 0)} mm`);
      item.classList.toggle("err", mm <= 0);
    });
    setHidden(none, rows === null || count > 0);
  };
  on(["reach", "scene"], build);
  on("near", paced(draw));
  build();
  draw();
  return section(
    "Distances",
    shown("distances"),
    driving(h("div", { class: "fields" }, keep.element, how, itself.element)),
    h("div", { class: "fields" }, faces),
    list,
    none,
  );
}

function short(element: number): string {
  const name = store.scene?.elements[element]?.name ?? "";
  return name.split("/").at(-1) ?? name;
}
