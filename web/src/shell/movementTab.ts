import { h } from "../ui/dom";

/** The movement editor; its code is loaded on demand. */
export class MovementTab {
  readonly element = h("div", { class: "state movement", hidden: true });
  private asked = false;

  show(seen: boolean): void {
    this.element.hidden = !seen;
    if (!seen || this.asked) return;
    this.asked = true;
    import("../movement/movementSheet")
      .then(({ movementSheet }) => this.element.replaceChildren(movementSheet()))
      .catch(() => {
        this.asked = false;
        this.element.replaceChildren(h("p", { class: "empty" }, "This tab could not be loaded."));
      });
  }
}
