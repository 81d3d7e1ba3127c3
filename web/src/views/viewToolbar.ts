import { h, setText } from "../ui/dom";
import { icon } from "../ui/icon";
import { iconButton } from "../ui/button";
import { openMenu, type MenuItem } from "../ui/menu";
import { arrange, layout } from "../app/layout";
import { on } from "../app/topics";
import { store } from "../app/store";
import { fourViews, watchesOnly } from "../app/width";
import { openShowMenu } from "../tree/showMenu";
import { follow, followed } from "./follow";
import { PRESETS } from "./presets";
import { chooseStereo, STEREO, STEREO_TITLES } from "./stereoChoice";
import { saveSnapshot } from "./snapshot";
import type { Stage } from "./stage";
import type { View } from "./view";

/** The small controls on top of a view: direction, followed body, fit, one or four. */
export function viewToolbar(
  stage: Stage,
  view: View,
): { element: HTMLElement; title: HTMLElement } {
  const title = h("span", {});
  const pick: HTMLButtonElement = h(
    "button",
    {
      type: "button",
      class: "view-pick strong",
      "aria-haspopup": "menu",
      onclick: () => openMenu(pick, sides(stage, view), "View"),
    },
    title,
    icon("down", 12),
  );
  const element = h("div", { class: "view-bar" }, pick);
  const right = h("div", { class: "view-tools" });
  if (view.slot === "perspective") {
    element.append(followPick());
    const snap: HTMLButtonElement = iconButton("camera", "Snapshot, PNG", () =>
      openMenu(snap, snapshots(stage, view), "Snapshot"),
    );
    right.append(
      iconButton("layers", "Show in views", (e) => openShowMenu(e.currentTarget as HTMLElement)),
      stereoPick(),
      snap,
    );
  }
  const toggle = iconButton("one", "One view", () =>
    arrange({ four: !layout.four, active: view.slot, stereo: "none" }),
  );
  const rename = (): void => {
    const label = fourViews() ? "One view" : "Four views";
    toggle.hidden = watchesOnly();
    if (toggle.title === label) return;
    toggle.replaceChildren(icon(fourViews() ? "one" : "four"));
    toggle.setAttribute("aria-label", label);
    toggle.title = label;
  };
  toggle.title = "";
  rename();
  on("layout", rename);
  right.append(
    iconButton("frame", "Fit all (Home)", () => stage.cameraTargets.fit([view])),
    toggle,
  );
  element.append(h("div", { class: "spring" }), right);
  element.addEventListener("pointerdown", (event) => event.stopPropagation());
  element.addEventListener("contextmenu", (event) => event.stopPropagation());
  return { element, title };
}

/** Sides and viewpoints of a view. */
export function sides(stage: Stage, view: View): MenuItem[] {
  return [
    ...PRESETS.map(({ name, title, key }) => ({
      label: title,
      key,
      checked: view.camera.preset === name && view.camera.viewpoint === "",
      run: () => stage.cameraTargets.choose(view, name),
    })),
    ...(store.scene?.viewpoints ?? []).map(({ name }) => ({
      label: `Viewpoint: ${name}`,
      key: "9",
      checked: view.camera.viewpoint === name,
      run: () => stage.cameraTargets.viewpoint(view, name),
    })),
    { label: "Reset all views", key: "0", run: () => stage.cameraTargets.reset() },
  ];
}

/** Images that can be saved. */
export function snapshots(stage: Stage, view: View): MenuItem[] {
  return [
    { label: "Snapshot of this view", run: () => saveSnapshot(stage, view) },
    { label: "Snapshot of all views", key: "P", run: () => saveSnapshot(stage) },
  ];
}

function followPick(): HTMLElement {
  const name = h("span", {});
  const pick: HTMLButtonElement = h(
    "button",
    {
      type: "button",
      class: "view-pick follow-pick",
      "aria-haspopup": "menu",
      onclick: () => {
        const bodies = store.scene?.bodies ?? [];
        const moving = bodies.map((b, i) => ({ b, i })).filter(({ b }) => !b.static);
        openMenu(
          pick,
          [
            { label: "none", run: () => follow(null), checked: followed() === null },
            ...moving.map(({ b, i }) => ({
              label: b.name,
              run: () => follow(i),
              checked: followed() === i,
            })),
          ],
          "Follow",
        );
      },
    },
    icon("anchor"),
    name,
    icon("down", 12),
  );
  const draw = (): void => {
    const body = followed();
    const words = `Follow: ${body === null ? "none" : (store.scene?.bodies[body]?.name ?? "none")}`;
    setText(name, words);
    pick.setAttribute("aria-label", words);
    pick.title = words;
  };
  on(["layout", "scene"], draw);
  draw();
  return pick;
}

function stereoPick(): HTMLElement {
  const pick: HTMLButtonElement = iconButton("glasses", "Stereo", () =>
    openMenu(
      pick,
      STEREO.map((stereo) => ({
        label: STEREO_TITLES[stereo],
        checked: layout.stereo === stereo,
        run: () => chooseStereo(stereo),
      })),
      "Stereo",
    ),
  );
  return pick;
}
