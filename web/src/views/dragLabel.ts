import { drag } from "../app/drag";
import { h, setText } from "../ui/dom";
import { forceWords } from "./pull";

/** Label beside the pointer for drags without a glyph: the force of a pull, values. */
export class DragLabel {
  readonly element = h("div", { class: "drag-label", role: "status", hidden: true });

  /** Shows it beside a point in the view [px]. */
  at(x: number, y: number): void {
    this.element.style.transform = `translate(${Math.round(x + 16)}px, ${Math.round(y + 12)}px)`;
    this.draw();
  }

  draw(): void {
    const pulling = drag.pull !== null;
    const words = drag.pull ? forceWords(drag.pull.force) : drag.words;
    this.element.hidden = words === "";
    this.element.classList.toggle("force", pulling);
    this.element.classList.toggle("held", drag.held);
    setText(this.element, drag.held ? `${words}, at its limit` : words);
  }
}
