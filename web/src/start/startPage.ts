import type { Gallery, GalleryScene } from "../protocol/messages";
import { newScene, openScene } from "../app/files";
import { store } from "../app/store";
import { address } from "../app/address";
import { on } from "../app/topics";
import { matches } from "../shell/palette";
import { commandsButton, themeButton } from "../shell/topBar";
import { button } from "../ui/button";
import { h, setText } from "../ui/dom";
import { icon } from "../ui/icon";
import { searchField } from "../ui/searchField";
import { dropZone, openButtons } from "./dropZone";
import { fetchGallery } from "./gallery";
import { kitTile } from "./kits";
import { recentRow } from "./recentRow";
import { recordingRows } from "./recordingList";

/** The page before a scene is open: gallery, recent files, import. */
export function startPage(): HTMLElement {
  const scenes = h("div", { class: "scene-grid", role: "list", "aria-label": "Scenes" });
  const kits = h("div", { class: "kit-row", role: "list", "aria-label": "Kits" });
  const kitWords = h("span", { class: "heading-note" });
  const recent = h("div", { class: "recent", role: "list", "aria-label": "Recent" });
  const recordings = h("div", { class: "recordings", role: "list", "aria-label": "Recordings" });
  const version = h("span", { class: "version" });
  const host = h("span", { class: "host" });
  let gallery: Gallery | null = null;
  let typed = "";
  const draw = (): void => {
    if (!gallery) return;
    const shown = gallery.scenes.filter((s) =>
      matches(`${s.title} ${s.name} ${s.engine} ${s.kit}`, typed),
    );
    const kitPicture = (kit: string): string | null =>
      gallery?.kits.find((k) => k.name === kit)?.parts.find((p) => p.picture)?.picture ?? null;
    scenes.replaceChildren(
      ...shown.map((scene) => sceneCard(scene, scene.picture ?? kitPicture(scene.kit))),
    );
    if (shown.length === 0) scenes.append(h("p", { class: "empty" }, "No scene has this name."));
    const kitsShown = gallery.kits.filter((k) =>
      matches(`${k.name} ${k.parts.map((p) => p.title).join(" ")}`, typed),
    );
    kits.replaceChildren(...kitsShown.map(kitTile));
    if (kitsShown.length === 0) kits.append(h("p", { class: "empty" }, "No kit has this name."));
    const count = gallery.kits.reduce((n, kit) => n + kit.parts.length, 0);
    setText(kitWords, `${count} part${count === 1 ? "" : "s"}`);
    recent.replaceChildren(...gallery.recent.map(recentRow));
    if (gallery.recent.length === 0)
      recent.append(h("p", { class: "empty" }, "Files you open appear here."));
    recordings.replaceChildren(
      ...recordingRows(gallery.recordings.filter((r) => matches(`${r.scene} ${r.path}`, typed))),
    );
    setText(version, gallery.version);
    markOpening(page);
  };
  const load = (anew: boolean): void => {
    fetchGallery(anew).then(
      (answer) => {
        gallery = answer;
        draw();
      },
      (error: Error) => {
        // While there is no connection, a notice over the page shows the reason.
        if (store.link === "open")
          scenes.replaceChildren(h("p", { class: "empty", role: "alert" }, error.message));
      },
    );
  };
  on("gallery", () => load(true));
  on("link", () => {
    const local = /^(localhost|127\.|\[::1\])/.test(location.hostname);
    const words =
      store.link === "open"
        ? `${location.host}, ${local ? "this machine only" : "open to the network"}`
        : store.linkText || "Connecting";
    host.replaceChildren(h("span", { class: `dot ${store.link}` }), words);
    if (store.link === "open" && !gallery) load(true);
  });
  on("opening", () => markOpening(page));
  const page = h(
    "div",
    { class: "start" },
    h(
      "header",
      { class: "top-bar", role: "banner" },
      h("span", { class: "logo" }, icon("logo", 20)),
      h("strong", {}, "Linkwork Studio"),
      version,
      h("span", { class: "spring" }),
      host,
      commandsButton(),
      themeButton(),
    ),
    h(
      "nav",
      { class: "start-left", "aria-label": "Open" },
      h(
        "div",
        { class: "start-open" },
        button("New scene", () => newScene(), "accent", "plus"),
        openButtons(),
        dropZone(),
      ),
      h("h2", {}, "Recent"),
      recent,
    ),
    h(
      "main",
      { class: "start-main", "aria-label": "Gallery" },
      h(
        "div",
        { class: "start-head" },
        h("h1", {}, "Scenes"),
        h("span", { class: "spring" }),
        searchField("Search scenes and kits", (words) => ((typed = words), draw())),
      ),
      scenes,
      h("div", { class: "start-head" }, h("h1", {}, "Kits"), kitWords),
      kits,
      h("div", { class: "start-head" }, h("h1", {}, "Recordings")),
      recordings,
    ),
  );
  load(false);
  return page;
}

/** Shows progress on the item being opened. */
function markOpening(page: HTMLElement): void {
  for (const each of page.querySelectorAll<HTMLElement>("[data-scene], [data-file]")) {
    const busy =
      store.opening !== "" && store.opening === (each.dataset["scene"] ?? each.dataset["file"]);
    each.toggleAttribute("aria-busy", false);
    each.querySelector(".opening")?.remove();
    if (!busy) continue;
    each.setAttribute("aria-busy", "true");
    each.append(h("span", { class: "opening", role: "status" }, "Opening…"));
  }
}

function picture(path: string | null): HTMLElement {
  if (!path) return h("span", { class: "blank" }, icon("robot", 48));
  return h("img", { src: address(path), alt: "", loading: "lazy" });
}

function sceneCard(scene: GalleryScene, shown: string | null): HTMLElement {
  const open = (): void => openScene(scene.name);
  const card = h(
    "button",
    {
      type: "button",
      class: "scene-card",
      "data-scene": scene.name,
      onclick: open,
    },
    picture(shown),
    h(
      "span",
      { class: "card-words" },
      h("b", {}, scene.title || scene.name),
      h("span", { class: "card-engine" }, scene.engine),
      h("span", { class: "card-about" }, scene.name),
    ),
  );
  return h("div", { role: "listitem", class: "cell" }, card);
}
