import { addCurve } from "../charts/charts";
import { chosenAnchors, closeLoop } from "../app/closeLoop";
import { anyHidden, setHidden, showAll, showOnly } from "../app/hidden";
import { SEPARATE_WINDOW, arrange, layout } from "../app/layout";
import { select } from "../app/selection";
import { standsAlone } from "../app/session";
import { store, type Thing } from "../app/store";
import { fourViews, watchesOnly } from "../app/width";
import { openMenu, type MenuItem } from "../ui/menu";
import type { JointView } from "../protocol/messages";
import { openSeparateWindow } from "../shell/separateWindow";
import { follow, followed } from "./follow";
import { nearestJoint } from "./linkDrag";
import type { Stage } from "./stage";
import type { View } from "./view";
import { snapshots } from "./viewToolbar";

const short = (name: string): string => name.split("/").at(-1) ?? name;

/** The context menu of a view: for the element there, if any, then for the view. */
export function openViewMenu(
  stage: Stage,
  view: View,
  at: { x: number; y: number },
  element: string | null,
): void {
  const items = [...(element === null ? [] : aboutElement(stage, element)), ...about(stage, view)];
  const label = element === null ? "View" : element;
  openMenu({ ...at, focus: view.element }, items, label);
}

function aboutElement(stage: Stage, name: string): MenuItem[] {
  const scene = store.scene;
  const found = scene?.elements.find((element) => element.name === name);
  if (!scene || !found) return [];
  const thing: Thing = { kind: "element", name };
  const items: MenuItem[] = [
    { label: `Select ${short(name)}`, run: () => select(thing) },
    {
      label: `Frame ${short(name)}`,
      run: () => stage.cameraTargets.frame(stage.highlight.shapeMeshes(thing)),
    },
  ];
  if (scene.bodies[found.body]?.static === false) {
    const on = followed() === found.body;
    items.push({
      label: on ? "Stop following" : `Follow ${short(name)}`,
      run: () => follow(on ? null : found.body),
    });
  }
  items.push(
    { label: `Hide ${short(name)}`, run: () => setHidden([name], true) },
    { label: `Show only ${short(name)}`, run: () => showOnly([name]) },
  );
  const joint = nearestJoint(scene.joints, found.body);
  if (joint) items.push(...aboutJoint(joint));
  return items;
}

function aboutJoint(joint: JointView): MenuItem[] {
  const dof = joint.dofs[0];
  const named: [string, string | null | undefined][] = [
    [dof?.name ?? "", dof?.signal],
    ["speed", dof?.speed_signal],
    ["effort", dof?.effort_signal],
  ];
  return [
    {
      label: `Select joint ${short(joint.name)}`,
      apart: true,
      run: () => select({ kind: "joint", name: joint.name }),
    },
    ...(watchesOnly() ? [] : named).flatMap(([word, signal]) =>
      signal ? [{ label: `Chart ${short(joint.name)} ${word}`, run: () => addCurve(signal) }] : [],
    ),
  ];
}

function about(stage: Stage, view: View): MenuItem[] {
  const shots = snapshots(stage, view);
  const items: MenuItem[] = [
    { label: "Fit all", key: "Home", apart: true, run: () => stage.cameraTargets.fit() },
  ];
  if (chosenAnchors().length === 2)
    items.unshift({ label: "Close loop here", apart: true, run: closeLoop });
  if (anyHidden()) items.push({ label: "Show hidden elements", run: showAll });
  if (!watchesOnly() && (SEPARATE_WINDOW === null || SEPARATE_WINDOW === "views"))
    items.push({
      label: fourViews() ? "One view" : "Four views",
      key: "V",
      run: () => arrange({ four: !layout.four, active: view.slot, stereo: "none" }),
    });
  items.push(...shots);
  if (SEPARATE_WINDOW === null && !standsAlone())
    items.push(
      {
        label: "This view in its own window",
        apart: true,
        run: () => openSeparateWindow(view.slot),
      },
      { label: "All views in their own window", run: () => openSeparateWindow("views") },
    );
  return items;
}
