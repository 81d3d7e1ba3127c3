import { formatSI } from "../app/numbers";
import { paced } from "../app/throttle";
import { hover, isSelected, select } from "../app/selection";
import { valueOf } from "../app/signals";
import { same, store, type Kind, type Thing } from "../app/store";
import { on } from "../app/topics";
import { h, setText } from "../ui/dom";
import { icon } from "../ui/icon";
import { RowVisibility } from "../ui/rowVisibility";
import { hits, treeOf, typeAhead, type Row } from "./rows";

/** Maximum pause between letters of one search [ms]. */
const TOGETHER = 700;

interface Line {
  row: Row;
  element: HTMLElement;
  value: HTMLElement;
  parent: Line | null;
  depth: number;
}

/** The scene as a tree; selection and hover are shared with the views. */
export class SceneTree {
  readonly element = h("div", {
    class: "tree",
    role: "tree",
    "aria-label": "Scene",
    "aria-multiselectable": "true",
  });
  readonly count = h("p", { class: "tree-count", hidden: true });
  private lines: Line[] = [];
  private closed = new Set<string>();
  private known = "";
  private revealed: Thing | null = null;
  private typed = "";
  private ahead = { letters: "", at: 0 };
  /** Letters search the tree during keyboard navigation; after a click they are shortcuts. */
  private byKeys = true;
  private readonly soon = paced(() => this.values());
  private readonly visibility = new RowVisibility(this.element, this.soon);

  constructor() {
    on("scene", () => this.rebuild());
    on(["selection", "hover"], () => this.mark());
    on("selection", () => this.reveal());
    on("units", () => this.values());
    on("signals", this.soon);
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("pointerdown", () => (this.byKeys = false));
    this.element.addEventListener("focusout", (event) => {
      if (!this.element.contains(event.relatedTarget as Node)) this.byKeys = true;
    });
    this.rebuild();
  }

  search(typed: string): void {
    this.typed = typed.trim();
    this.arrange();
  }

  private rebuild(): void {
    const focused = this.lines.find((line) => line.element === document.activeElement);
    this.lines = [];
    if (store.scene) {
      const root = treeOf(store.scene);
      // Large scenes start with their parts collapsed; small ones are expanded.
      const known = `${store.scene.name} ${store.scene.file}`;
      if (known !== this.known && store.scene.elements.length + store.scene.joints.length > 60) {
        const close = (row: Row, depth: number): void => {
          if (depth >= 2 && row.children.length > 0) this.closed.add(keyOf(row));
          row.children.forEach((child) => close(child, depth + 1));
        };
        close(root, 0);
      }
      this.known = known;
      this.add(root, null, 0);
    }
    this.element.replaceChildren(...this.lines.map((line) => line.element));
    this.arrange();
    this.mark();
    this.reveal();
    const again = focused && this.lines.find((line) => keyOf(line.row) === keyOf(focused.row));
    again?.element.focus({ preventScroll: true });
    this.values();
  }

  private add(row: Row, parent: Line | null, depth: number): void {
    const value = h("span", { class: "tree-value" }, row.note);
    const twist = h("span", { class: "twist" }, row.children.length > 0 && icon("right", 12));
    const element = h(
      "div",
      {
        class: "tree-row",
        role: "treeitem",
        tabindex: "-1",
        "aria-level": String(depth + 1),
        "data-signal": row.name,
        "data-kind": row.kind,
        title: row.name,
      },
      twist,
      icon(row.icon),
      h("span", { class: "tree-label" }, row.label),
      value,
    );
    element.style.setProperty("--depth", String(depth));
    const line: Line = { row, element, value, parent, depth };
    element.addEventListener("click", (event) => this.click(line, event));
    element.addEventListener("pointerenter", () => hover(thingOf(row)));
    element.addEventListener("pointerleave", () => hover(null));
    this.lines.push(line);
    row.children.forEach((child) => this.add(child, line, depth + 1));
  }

  private click(line: Line, event: MouseEvent): void {
    const onTwist = (event.target as Element).closest(".twist");
    if (line.row.children.length > 0 && (onTwist || line.row.kind === "folder"))
      return this.toggle(line);
    select(thingOf(line.row), event.shiftKey);
  }

  private toggle(line: Line, open = this.closed.has(keyOf(line.row))): void {
    if (open) this.closed.delete(keyOf(line.row));
    else this.closed.add(keyOf(line.row));
    this.arrange();
  }

  private arrange(): void {
    const found = new Set<Line>();
    const kept = new Set<Line>();
    if (this.typed) {
      for (const line of this.lines) {
        if (line.row.kind === "folder" || line.row.kind === "scene" || !hits(line.row, this.typed))
          continue;
        found.add(line);
        for (let up: Line | null = line; up; up = up.parent) kept.add(up);
      }
    }
    for (const line of this.lines) {
      const open = !this.closed.has(keyOf(line.row)) || Boolean(this.typed);
      line.element.hidden = this.typed ? !kept.has(line) : this.isFolded(line);
      line.element.classList.toggle("dim", Boolean(this.typed) && !found.has(line));
      if (line.row.children.length > 0) line.element.setAttribute("aria-expanded", String(open));
    }
    this.count.hidden = !this.typed;
    setText(
      this.count,
      found.size === 0 ? "Nothing has this name." : `${found.size} of ${this.lines.length} match.`,
    );
    this.values();
    const first = this.lines.find((line) => !line.element.hidden);
    if (first && !this.lines.some((l) => l.element.tabIndex === 0 && !l.element.hidden))
      this.lines.forEach((l) => (l.element.tabIndex = l === first ? 0 : -1));
  }

  private isFolded(line: Line): boolean {
    for (let up = line.parent; up; up = up.parent) if (this.closed.has(keyOf(up.row))) return true;
    return false;
  }

  private mark(): void {
    for (const line of this.lines) {
      const thing = thingOf(line.row);
      const chosen = thing !== null && isSelected(thing);
      line.element.setAttribute("aria-selected", String(chosen));
      const near = store.hover?.name === line.row.name && store.hover.kind === line.row.kind;
      line.element.classList.toggle("near", near);
    }
  }

  /** Scrolls to the last selection; hovering does not scroll. */
  private reveal(): void {
    const last = store.selection.at(-1) ?? null;
    // Rows that the user collapsed stay collapsed: only a new selection is revealed.
    if (same(last, this.revealed)) return;
    this.revealed = last;
    const line = this.lines.find((l) => l.row.name === last?.name && l.row.kind === last.kind);
    if (!line) return;
    for (let up = line.parent; up; up = up.parent) this.closed.delete(keyOf(up.row));
    this.arrange();
    this.lines.forEach((l) => (l.element.tabIndex = l === line ? 0 : -1));
    line.element.scrollIntoView({ block: "nearest" });
  }

  private values(): void {
    const live = this.lines.filter(({ row, element }) => row.signal && !element.hidden);
    for (const { row, value } of this.visibility.among(live)) {
      const now = valueOf(row.signal);
      setText(value, now === null ? "" : formatSI(now, row.unit, store.degrees));
    }
  }

  /** Letters go to the next row that begins with them. */
  private lead(shown: Line[], letter: string, at: number): number {
    const now = performance.now();
    const fresh = now - this.ahead.at > TOGETHER;
    const letters = fresh ? letter : this.ahead.letters + letter;
    // The same letter twice means the next match, not a name that begins with both.
    const same = [...letters].every((each) => each === letters[0]);
    this.ahead = { letters, at: now };
    const labels = shown.map((line) => line.row.label);
    return typeAhead(labels, same ? letter : letters, at);
  }

  private key(event: KeyboardEvent): void {
    const shown = this.lines.filter((line) => !line.element.hidden);
    const at = shown.findIndex((line) => line.element === document.activeElement);
    const line = shown[at];
    if (!line) return;
    const go = (to: Line | undefined): void => {
      if (!to) return;
      this.byKeys = true;
      line.element.tabIndex = -1;
      to.element.tabIndex = 0;
      to.element.focus();
    };
    if (event.key === "ArrowDown") go(shown[at + 1]);
    else if (event.key === "ArrowUp") go(shown[at - 1]);
    else if (event.key === "Home") go(shown[0]);
    else if (event.key === "End") go(shown.at(-1));
    else if (event.key === "ArrowRight") {
      if (line.row.children.length > 0 && this.closed.has(keyOf(line.row))) this.toggle(line, true);
      else if (line.row.children.length > 0) go(shown[at + 1]);
    } else if (event.key === "ArrowLeft") {
      if (line.row.children.length > 0 && !this.closed.has(keyOf(line.row)))
        this.toggle(line, false);
      else go(line.parent ?? undefined);
    } else if (event.key === "Enter" || (event.key === " " && this.byKeys)) {
      if (line.row.kind === "folder") this.toggle(line);
      else select(thingOf(line.row), event.shiftKey);
    } else if (this.byKeys && /^[\p{L}\p{N}_-]$/u.test(event.key) && !chord(event)) {
      go(shown[this.lead(shown, event.key, at)]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

function chord(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey;
}

/** Names are unique within a kind only. */
function keyOf(row: Row): string {
  return `${row.kind} ${row.name}`;
}

function thingOf(row: Row): Thing | null {
  return row.kind === "folder" ? null : { kind: row.kind as Kind, name: row.name };
}
