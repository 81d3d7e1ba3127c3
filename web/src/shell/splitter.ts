import { arrange, layout } from "../app/layout";
import { h } from "../ui/dom";

type Side = "left" | "right" | "dock";
const LIMITS: Record<Side, [number, number]> = {
  left: [220, 360],
  right: [280, 440],
  dock: [140, 520],
};

/** A line between regions that can be dragged or moved with the arrow keys. */
export function splitter(side: Side): HTMLElement {
  const key = side === "left" ? "leftWidth" : side === "right" ? "rightWidth" : "dockHeight";
  const line = h("div", {
    class: `splitter at-${side}`,
    role: "separator",
    tabindex: "0",
    "aria-label": `Size of the ${side === "dock" ? "charts" : `${side} panel`}`,
    "aria-orientation": side === "dock" ? "horizontal" : "vertical",
  });
  const set = (value: number): void => {
    const [least, most] = LIMITS[side];
    arrange({ [key]: Math.round(Math.min(most, Math.max(least, value))) });
  };
  const value = (event: PointerEvent): number => {
    if (side === "left") return event.clientX;
    if (side === "right") return innerWidth - event.clientX;
    return (line.parentElement?.getBoundingClientRect().bottom ?? innerHeight) - event.clientY;
  };
  line.addEventListener("pointerdown", (event) => line.setPointerCapture(event.pointerId));
  line.addEventListener("pointermove", (event) => {
    if (line.hasPointerCapture(event.pointerId)) set(value(event));
  });
  line.addEventListener("keydown", (event) => {
    const grow = {
      ArrowRight: side === "right" ? -8 : 8,
      ArrowLeft: side === "right" ? 8 : -8,
      ArrowUp: 8,
      ArrowDown: -8,
    }[event.key];
    if (grow === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    set(layout[key] + grow);
  });
  return line;
}
