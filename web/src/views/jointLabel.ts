import { Vector3 } from "three";
import type { JointView } from "../protocol/messages";
import { drag } from "../app/drag";
import { layout } from "../app/layout";
import { formatSI } from "../app/numbers";
import { store } from "../app/store";
import { h, setHidden } from "../ui/dom";
import type { Values } from "./hands";
import type { View } from "./view";

/** Maximum number of values beside a joint; more are in the table. */
const MOST = 3;

/** Writes `J3 71.0° → 96.0°` beside the joint in each view. */
export function labelJoint(
  views: View[],
  place: Vector3,
  size: number,
  joint: JointView,
  values: Values,
  held: boolean,
): void {
  const above = place.clone().add(new Vector3(0, 0, size * 1.15));
  for (const view of views) {
    const { label, element } = view;
    const { width: wide, height: high } = view.size;
    const at = view.project(above);
    const out = !at || at.x < 0 || at.x > wide || at.y > high;
    setHidden(label, Boolean(element.hidden) || layout.stereo !== "none" || out);
    if (label.hidden || !at) continue;
    write(label, joint, values, held, !view.camera.flat || drag.joint !== null);
    const size = sizeOf(label);
    const left = Math.min(wide - size.width - 8, Math.max(8, at.x + 12));
    const top = Math.min(high - size.height - 8, Math.max(44, at.y - 28));
    label.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
}

const sizes = new WeakMap<HTMLElement, { key: string; width: number; height: number }>();

/** Size of a label; measured, which triggers a layout, only for a new text. */
function sizeOf(label: HTMLElement): { width: number; height: number } {
  const key = label.dataset["key"] ?? "";
  let known = sizes.get(label);
  if (known?.key !== key) {
    known = { key, width: label.offsetWidth, height: label.offsetHeight };
    sizes.set(label, known);
  }
  return known;
}

function write(
  label: HTMLElement,
  joint: JointView,
  values: Values,
  held: boolean,
  full: boolean,
): void {
  const shown = joint.dofs.slice(0, MOST).map((dof, i) => {
    const now = formatSI(values.actual[i] ?? 0, dof.unit, store.degrees);
    const target = values.wanted[i] ?? null;
    return {
      name: dof.name,
      now,
      target: target === null ? now : formatSI(target, dof.unit, store.degrees),
    };
  });
  const key = JSON.stringify([joint.name, full, held, shown]);
  if (label.dataset["key"] === key) return;
  label.dataset["key"] = key;
  const parts: (Node | string)[] = [];
  if (full) parts.push(h("b", {}, joint.name.split("/").at(-1) ?? joint.name));
  for (const { name, now, target } of shown) {
    parts.push(shown.length > 1 ? ` ${name} ${now}` : ` ${now}`);
    if (full && target !== now) parts.push(" ", h("i", {}, `→ ${target}`));
  }
  if (shown.length === 0) parts.push(` ${joint.type}`);
  if (held) parts.push(" ", h("u", {}, "at its limit"));
  label.replaceChildren(...parts);
}
