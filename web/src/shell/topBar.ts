import type { SceneMessage } from "../protocol/messages";
import { arrange, chooseWorkspace, layout, type Workspace } from "../app/layout";
import { run } from "../app/commands";
import { convert } from "../app/files";
import { on } from "../app/topics";
import { store } from "../app/store";
import { switchTheme, theme } from "../app/theme";
import { button, iconButton } from "../ui/button";
import { h, setText } from "../ui/dom";
import { whyOff } from "../ui/driving";
import { icon } from "../ui/icon";
import { openMenu, type MenuItem } from "../ui/menu";
import { modes } from "./modes";
import { people } from "./people";
import { share } from "./share";

const WORKSPACES: Workspace[] = ["Build", "Drive", "Test", "Review"];

/** File, undo, workspace, people, share, commands, theme. */
export function topBar(): HTMLElement {
  const bar = h(
    "header",
    { class: "top-bar three", role: "banner" },
    h(
      "div",
      { class: "bar-side" },
      h(
        "button",
        {
          type: "button",
          class: "logo",
          "aria-label": "Linkwork, back to the gallery",
          title: "Back to the gallery",
          onclick: () => run("close"),
        },
        icon("logo", 20),
      ),
      drawerButton(),
      fileMenu(),
      h("span", { class: "divider" }),
      ...edits(),
      modes(),
    ),
    workspaces(),
    h(
      "div",
      { class: "bar-side end" },
      people(),
      h(
        "span",
        { class: "wide-words" },
        button("Share", () => void share(), "bare", "share"),
      ),
      commandsButton(),
      themeButton(),
    ),
  );
  return bar;
}

export function commandsButton(): HTMLElement {
  return h(
    "button",
    {
      type: "button",
      class: "button bare commands",
      "aria-label": "Commands",
      title: "Commands (Ctrl+K)",
      onclick: () => run("palette"),
    },
    icon("search"),
    h("span", {}, "Commands"),
    h("kbd", {}, "Ctrl K"),
  );
}

export function themeButton(): HTMLElement {
  const made = iconButton("sun", "Light or dark", switchTheme);
  const draw = (): void => made.replaceChildren(icon(theme() === "dark" ? "sun" : "moon"));
  on("theme", draw);
  draw();
  return made;
}

/** Opens the left panel on a narrow page. */
function drawerButton(): HTMLElement {
  return iconButton(
    "layers",
    "Scene panel",
    () => arrange({ drawer: !layout.drawer }),
    "drawer-button",
  );
}

function fileMenu(): HTMLElement {
  const name = h("strong", {});
  const dot = h("span", { class: "dirty-dot", title: "Changed, not saved" });
  const kind = h("span", { class: "file-kind" }, "scene");
  const pick: HTMLButtonElement = h(
    "button",
    {
      type: "button",
      class: "file-pick",
      "aria-haspopup": "menu",
      onclick: () => openMenu(pick, fileItems(), "File"),
    },
    name,
    dot,
    kind,
    icon("down"),
  );
  const draw = (): void => {
    setText(name, store.scene ? fileName(store.scene) : "");
    pick.title = [store.scene?.title, store.scene?.file].filter(Boolean).join("\n");
    dot.hidden = !store.undo.dirty;
    setText(kind, store.scene?.replay ? "recording" : "scene");
  };
  on(["scene", "undo"], draw);
  draw();
  return pick;
}

/** The open file: the one that Save writes, or else the scene. */
function fileName({ name, file, replay }: SceneMessage): string {
  const short = file
    .split("/")
    .at(-1)
    ?.replace(/\.[^.]+$/, "");
  return (!replay && short) || (name.split("/").at(-1) ?? name);
}

function fileItems(): MenuItem[] {
  const { undo, scene } = store;
  const why = whyOff();
  const edits: MenuItem[] = [];
  if (undo.can_undo)
    edits.push({ label: `Undo: ${undo.undo}`, key: "Ctrl Z", why, run: () => run("undo") });
  if (undo.can_redo)
    edits.push({ label: `Redo: ${undo.redo}`, key: "Ctrl ⇧ Z", why, run: () => run("redo") });
  const files: MenuItem[] =
    scene?.editable === false
      ? scene.file && !scene.replay
        ? [{ label: "Edit as TOML", why, run: convert }]
        : []
      : [
          { label: "Save", key: "Ctrl S", why, run: () => run("save") },
          { label: "Save as…", key: "Ctrl ⇧ S", why, run: () => run("save-as") },
          { label: "Store posture…", why, run: () => run("store-posture") },
        ];
  return [
    ...edits,
    ...files,
    { label: "New scene…", why, run: () => run("new-scene") },
    { label: "Reset", key: "⌫", why, run: () => run("reset") },
    { label: "Snapshot, PNG", run: () => run("snapshot") },
    { label: "Open a recording", run: () => run("recordings") },
    ...(scene?.replay
      ? [
          { label: "Save as HTML", run: () => run("save-html") },
          { label: "Go on from here", why, run: () => run("go-on") },
        ]
      : []),
    { label: "Back to the gallery", why, run: () => run("close") },
  ];
}

function edits(): HTMLElement[] {
  const undo = iconButton("undo", "Undo (Ctrl+Z)", () => run("undo"));
  const redo = iconButton("redo", "Redo (Ctrl+Shift+Z)", () => run("redo"));
  const save = iconButton("save", "Save (Ctrl+S)", () => run("save"));
  const draw = (): void => {
    const why = whyOff();
    undo.disabled = !store.undo.can_undo || why !== "";
    redo.disabled = !store.undo.can_redo || why !== "";
    save.disabled = store.scene?.editable === false || why !== "";
    name(undo, store.undo.undo ? `Undo: ${store.undo.undo} (Ctrl+Z)` : "Undo (Ctrl+Z)");
    name(redo, store.undo.redo ? `Redo: ${store.undo.redo} (Ctrl+Shift+Z)` : "Redo (Ctrl+Shift+Z)");
    for (const made of [undo, redo, save]) if (why) made.title = why;
    if (!why) save.title = "Save (Ctrl+S)";
  };
  on(["undo", "scene", "people", "link"], draw);
  draw();
  return [undo, redo, save];
}

function name(made: HTMLElement, words: string): void {
  made.title = words;
  made.setAttribute("aria-label", words);
}

function workspaces(): HTMLElement {
  const made = WORKSPACES.map((name) =>
    h(
      "button",
      { type: "button", role: "tab", class: "segment", onclick: () => chooseWorkspace(name) },
      name,
    ),
  );
  const draw = (): void => {
    made.forEach((b, i) =>
      b.setAttribute("aria-selected", String(WORKSPACES[i] === layout.workspace)),
    );
  };
  on("layout", draw);
  draw();
  return h("div", { class: "segments", role: "tablist", "aria-label": "Workspace" }, ...made);
}
