import { Vector3, type Intersection } from "three";
import { hover, select } from "../app/selection";
import { isDriver, store, type Thing } from "../app/store";
import { announce, on } from "../app/topics";
import type { ShapeMesh } from "./bodies";
import { DragLabel } from "./dragLabel";
import { beginLinkDrag, type LinkDrag } from "./linkDrag";
import type { Stage } from "./stage";
import { tool } from "./tool";
import type { View } from "./view";
import { openViewMenu } from "./viewMenu";

const CLICK_PX = 4;

interface Hit {
  piece: ShapeMesh;
  point: Vector3;
}

/** Pointer actions in a view: select, drag a joint, pull, orbit, pan, zoom. */
export function attachPointer(stage: Stage, view: View): void {
  const element = view.element;
  let down: {
    x: number;
    y: number;
    button: number;
    hit: Hit | null;
    moved: boolean;
    /** Whether the link under the pointer cannot be dragged: the view does not move then. */
    refused: boolean;
    /** Begins to drag the tool handle under the pointer. */
    handle: (() => LinkDrag | null) | null;
  } | null = null;
  let link: LinkDrag | null = null;
  /** The scene in which the drag began. */
  let dragged = -1;
  let waiting: PointerEvent | null = null;
  const label = new DragLabel();
  element.append(label.element);

  const pick = (event: { clientX: number; clientY: number }): Hit | null => {
    const meshes = stage.bodies.shapeMeshes.filter((p) => p.mesh.visible).map((p) => p.mesh);
    const found: Intersection[] = view.caught(event).intersectObjects(meshes, false);
    const first = found[0];
    return first
      ? { piece: first.object.userData["piece"] as ShapeMesh, point: first.point }
      : null;
  };

  /** The object under the pointer: an anchor before its element. */
  const thingAt = (
    event: { clientX: number; clientY: number },
    hit = pick(event),
  ): Thing | null => {
    const anchor = stage.marks.anchors.near(view, event);
    if (anchor !== null) return { kind: "anchor", name: anchor };
    return hit ? { kind: "element", name: hit.piece.element.name } : null;
  };

  element.addEventListener("pointerdown", (event) => {
    if (down) return;
    const left = event.button === 0;
    const handle = (left && tool.current?.grab(view, event)) || null;
    const hit = left && !handle ? pick(event) : null;
    down = {
      x: event.clientX,
      y: event.clientY,
      button: event.button,
      hit,
      moved: false,
      refused: false,
      handle,
    };
    element.setPointerCapture(event.pointerId);
    element.focus({ preventScroll: true });
    event.preventDefault();
  });

  element.addEventListener("pointermove", (event) => {
    if (!down) {
      if (!waiting) {
        requestAnimationFrame(() => {
          const over = waiting && !down && tool.current?.hover(view, waiting);
          if (waiting && !down) hover(over ? null : thingAt(waiting));
          waiting = null;
        });
      }
      waiting = event;
      return;
    }
    const dx = event.clientX - down.x;
    const dy = event.clientY - down.y;
    if (!down.moved && Math.hypot(dx, dy) < CLICK_PX) return;
    if (!down.moved && down.handle) {
      link = down.handle();
      dragged = store.shown;
      down.refused = !link;
    } else if (!down.moved && down.hit && down.button === 0) {
      const pull = event.ctrlKey || event.metaKey;
      link = beginLinkDrag(
        view,
        down.hit.piece,
        down.hit.point,
        { clientX: down.x, clientY: down.y },
        pull,
      );
      dragged = store.shown;
      down.refused = !link && store.scene?.bodies[down.hit.piece.element.body]?.static === false;
    }
    down.moved = true;
    if (down.refused) return;
    if (link) {
      link.move(event);
      const box = element.getBoundingClientRect();
      label.at(event.clientX - box.left, event.clientY - box.top);
      announce("drag");
      return;
    }
    if (down.button === 0 && !view.camera.flat) view.camera.orbit(dx, dy);
    else view.camera.pan(dx, dy);
    down.x = event.clientX;
    down.y = event.clientY;
    stage.refresh();
  });

  const letGo = (givenUp: boolean): void => {
    link?.end(givenUp);
    link = null;
    label.draw();
    announce("drag");
  };
  /** The dragged object must still exist, and this client must drive. */
  on(["scene", "people"], () => {
    if (link && (!isDriver() || store.shown !== dragged)) letGo(false);
  });
  on("poses", () => link && label.draw());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !link) return;
    event.preventDefault();
    letGo(true);
  });

  const release = (event: PointerEvent): void => {
    if (link) {
      letGo(event.type === "pointercancel");
    } else if (down && !down.moved && !down.handle && down.button === 0) {
      select(thingAt(event, down.hit), event.shiftKey);
    }
    const clicked = down && !down.moved ? down.button : null;
    down = null;
    if (clicked === 2) {
      const at = { x: event.clientX, y: event.clientY };
      openViewMenu(stage, view, at, pick(event)?.piece.element.name ?? null);
    }
  };
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
  element.addEventListener("pointerleave", () => {
    hover(null);
    tool.current?.hover(view, null);
  });
  element.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    // The mouse opens the menu on release, since a drag with the right button must not open it.
    if (event.button === 2) return;
    if (event.target !== element || document.querySelector(".menu")) return;
    const chosen = store.selection.at(-1);
    const box = element.getBoundingClientRect();
    const at = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    openViewMenu(stage, view, at, chosen?.kind === "element" ? chosen.name : null);
  });
  element.addEventListener(
    "wheel",
    (event) => {
      const at = view.place(event);
      view.camera.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.0022), at.x, at.y);
      stage.refresh();
      event.preventDefault();
    },
    { passive: false },
  );
}
