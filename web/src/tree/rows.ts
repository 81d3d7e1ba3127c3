import type { SceneMessage } from "../protocol/messages";
import type { Kind } from "../app/store";
import type { IconName } from "../ui/icon";

/** A line of the scene tree. */
export interface Row {
  kind: Kind | "folder";
  /** Full name; unique together with the kind. */
  name: string;
  label: string;
  icon: IconName;
  /** Signal of the live value at the right, and its unit. */
  signal: string | null;
  unit: string;
  note: string;
  children: Row[];
}

function row(kind: Row["kind"], name: string, label: string, icon: IconName, note = ""): Row {
  return { kind, name, label, icon, note, signal: null, unit: "", children: [] };
}

/** Scene → robot → part → element, joint, anchor, from names with `/`. */
export function treeOf(scene: SceneMessage): Row {
  const root = row("scene", scene.name, scene.name.split("/").at(-1) ?? scene.name, "scene");
  const parts = new Map<string, Row>([["", root]]);
  const partRow = (name: string): Row => {
    const known = parts.get(name);
    if (known) return known;
    const cut = name.lastIndexOf("/");
    const parent = partRow(cut < 0 ? "" : name.slice(0, cut));
    const made = row("part", name, name.slice(cut + 1), cut < 0 ? "robot" : "part");
    parts.set(name, made);
    parent.children.push(made);
    return made;
  };
  const short = (name: string): string => name.slice(name.lastIndexOf("/") + 1);
  const scope = (name: string, part: string): string =>
    part || !name.includes("/") ? part : name.slice(0, name.lastIndexOf("/"));

  const order: { at: number; home: string; row: Row }[] = [];
  for (const element of scene.elements) {
    order.push({
      at: element.body * 2 + 1,
      home: scope(element.name, element.part),
      row: row("element", element.name, short(element.name), "element"),
    });
  }
  for (const joint of scene.joints) {
    const dof = joint.dofs[0];
    const made = row(
      "joint",
      joint.name,
      short(joint.name),
      joint.dofs.length === 1 && dof?.unit === "m" ? "slider" : "joint",
    );
    if (joint.dofs.length === 1 && dof) {
      made.signal = dof.signal;
      made.unit = dof.unit;
    } else made.note = joint.type;
    order.push({ at: joint.body * 2, home: scope(joint.name, joint.part), row: made });
  }
  order.sort((a, b) => a.at - b.at);
  for (const entry of order) partRow(entry.home).children.push(entry.row);
  for (const anchor of scene.anchors) {
    const made = row("anchor", anchor.name, short(anchor.name), "anchor", anchor.fits);
    partRow(scope(anchor.name, "")).children.push(made);
  }
  for (const [name, part] of parts) {
    if (name && part.icon === "robot") {
      const joints = scene.joints.filter(
        (j) => j.name.startsWith(`${name}/`) && j.dofs.length > 0,
      ).length;
      if (joints > 0) part.note = `${joints} joint${joints === 1 ? "" : "s"}`;
      else part.icon = "part";
    }
  }
  folder(
    root,
    "Sensors",
    "sensor",
    scene.sensors.map((s) => row("sensor", s.name, s.name, "sensor", s.type)),
  );
  folder(
    root,
    "Agents",
    "agent",
    scene.agents.map((a) => row("agent", a.name, a.name, "agent", a.type)),
  );
  folder(
    root,
    "Loops",
    "loop",
    scene.loops.map((l) => row("loop", l.name, l.name, "loop", l.joint)),
  );
  folder(
    root,
    "Postures",
    "robot",
    scene.postures.map((name) => row("posture", name, name, "robot")),
  );
  folder(
    root,
    "Lights",
    "sun",
    scene.lights.map((l) => row("light", l.name, l.name, "sun", l.kind)),
  );
  folder(
    root,
    "Viewpoints",
    "camera",
    scene.viewpoints.map((v) => row("viewpoint", v.name, v.name, "camera")),
  );
  return root;
}

function folder(root: Row, label: string, icon: IconName, children: Row[]): void {
  if (children.length === 0) return;
  const made = row("folder", label, label, icon, String(children.length));
  made.children = children;
  root.children.push(made);
}

/** The next row from `at`, cyclically, that begins with `typed`; -1 if there is none. */
export function typeAhead(labels: string[], typed: string, at: number): number {
  const low = typed.toLowerCase();
  // A repeated letter goes from match to match; further letters stay at a match.
  const first = low.length > 1 ? at : at + 1;
  for (let n = 0; n < labels.length; n++) {
    const here = (first + n) % labels.length;
    if (labels[here]?.toLowerCase().startsWith(low)) return here;
  }
  return -1;
}

/** Whether a row's name or signal contains the typed words. */
export function hits(row: Row, typed: string): boolean {
  const low = `${row.name} ${row.signal ?? ""}`.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}
