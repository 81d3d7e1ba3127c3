import { h } from "../ui/dom";
import { icon } from "../ui/icon";
import { iconButton } from "../ui/button";
import { openMenu } from "../ui/menu";
import { arrange, layout, type Stereo, type ViewName } from "../app/layout";
import { on } from "../app/topics";
import { store } from "../app/store";
import { run } from "../app/commands";
import { openShowMenu } from "../tree/showMenu";
import { follow, followed } from "./follow";
import { VIEW_TITLES, type View } from "./view";

const KEYS: Record<ViewName, string> = { front: "1", right: "3", top: "7", perspective: "5" };
const STEREO: Stereo[] = ["none", "anaglyph", "side by side", "interlaced"];

/** The small controls on top of a view: which view, what it follows, fit, one or four. */
export function viewToolbar(
  view: View,
  refresh: () => void,
  fit: () => void,
): { element: HTMLElement; title: HTMLElement } {
  const title = h("span", {});
  const pick: HTMLButtonElement = h(
    "button",
    {
      type: "button",
      class: "view-pick strong",
      "aria-haspopup": "menu",
      onclick: () =>
        openMenu(
          pick,
          (Object.keys(VIEW_TITLES) as ViewName[]).map((name) => ({
            label: VIEW_TITLES[name],
            key: KEYS[name],
            checked: view.camera.preset === name,
            run: () => {
              view.choose(name);
              refresh();
            },
          })),
          "View",
        ),
    },
    title,
    icon("down", 12),
  );
  const element = h("div", { class: "view-bar" }, pick);
  const right = h("div", { class: "view-tools" });
  if (view.slot === "perspective") {
    element.append(followPick());
    right.append(
      iconButton("layers", "Show in views", (e) => openShowMenu(e.currentTarget as HTMLElement)),
      stereoPick(),
      iconButton("camera", "Snapshot, PNG", () => run("snapshot")),
    );
  }
  const toggle = iconButton("one", "One view", () =>
    arrange({ four: !layout.four, active: view.slot }),
  );
  const rename = (): void => {
    const label = layout.four ? "One view" : "Four views";
    toggle.replaceChildren(icon(layout.four ? "one" : "four"));
    toggle.setAttribute("aria-label", label);
    toggle.title = label;
  };
  rename();
  on("layout", rename);
  right.append(iconButton("frame", "Fit all (Home)", fit), toggle);
  element.append(h("div", { class: "spring" }), right);
  element.addEventListener("pointerdown", (event) => event.stopPropagation());
  return { element, title };
}

function followPick(): HTMLElement {
  const name = h("span", {}, "Follow: none");
  const pick: HTMLButtonElement = h(
    "button",
    {
      type: "button",
      class: "view-pick",
      "aria-haspopup": "menu",
      onclick: () => {
        const bodies = store.scene?.bodies ?? [];
        const moving = bodies.map((b, i) => ({ b, i })).filter(({ b }) => !b.static);
        openMenu(
          pick,
          [
            { label: "none", run: () => follow(null), checked: followed() === null },
            ...moving.slice(0, 40).map(({ b, i }) => ({
              label: b.name,
              run: () => follow(i),
              checked: followed() === i,
            })),
          ],
          "Follow",
        );
      },
    },
    name,
    icon("down", 12),
  );
  on(["layout", "scene"], () => {
    const body = followed();
    name.textContent = `Follow: ${body === null ? "none" : (store.scene?.bodies[body]?.name ?? "none")}`;
  });
  return pick;
}

function stereoPick(): HTMLElement {
  const pick: HTMLButtonElement = iconButton("glasses", "Stereo", () =>
    openMenu(
      pick,
      STEREO.map((stereo) => ({
        label: stereo === "none" ? "One eye" : stereo[0]!.toUpperCase() + stereo.slice(1),
        checked: layout.stereo === stereo,
        run: () =>
          arrange({
            stereo,
            ...(stereo === "none" ? {} : { four: false, active: "perspective" as const }),
          }),
      })),
      "Stereo",
    ),
  );
  return pick;
}
