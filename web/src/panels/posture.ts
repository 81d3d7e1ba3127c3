import type { Dof, JointView } from "../protocol/messages";
import { valueOf } from "../app/signals";
import { button } from "../ui/button";
import { h } from "../ui/dom";
import { toast } from "../ui/toast";

/** A posture as a section of a scene's file: angles in degrees, lengths in meters. */
export function postureText(
  lines: { joint: JointView; dof: Dof }[],
  value: (dof: Dof) => number | null,
): string {
  const table = (unit: string, factor: number): string =>
    lines
      .filter(({ joint, dof }) => dof.unit === unit && joint.type !== "ball")
      .map(({ joint, dof }) => {
        const name = joint.dofs.length > 1 ? `${joint.name}.${dof.name}` : joint.name;
        return `${JSON.stringify(name)} = ${Number(((value(dof) ?? 0) / factor).toFixed(5))}`;
      })
      .join(", ");
  const angles = table("rad", Math.PI / 180);
  const lengths = table("m", 1);
  return [
    "[[posture]]",
    'name = "copied"',
    ...(angles ? [`joints_deg = { ${angles} }`] : []),
    ...(lengths ? [`joints = { ${lengths} }`] : []),
    "",
  ].join("\n");
}

/** Copies the posture, or shows it if the browser does not allow copying. */
export function copyPosture(lines: { joint: JointView; dof: Dof }[]): void {
  const text = postureText(lines, (dof) => valueOf(dof.signal));
  const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
  copied.then(
    () => toast({ level: "info", text: `Posture of ${lines.length} joints copied as text.` }),
    () => showPosture(text),
  );
}

function showPosture(text: string): void {
  const area = h("textarea", { readonly: true, rows: "12", "aria-label": "Posture" });
  area.value = text;
  const dialog = h(
    "dialog",
    { class: "text-dialog", "aria-label": "Posture as text" },
    h("h2", {}, "Posture"),
    area,
    button("Close", () => dialog.close()),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  area.select();
}
