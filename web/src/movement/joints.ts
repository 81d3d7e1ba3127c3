import type { Dof, JointView, SceneMessage } from "../protocol/messages";

/** A degree of freedom that a movement can move, by its name within the robot. */
export interface MovableDof {
  name: string;
  joint: JointView;
  dof: Dof;
}

/**
 * The degrees of freedom of a part, in the order of the scene; balls and free bodies are omitted.
 */
export function movableDofs(scene: SceneMessage | null, on: string): MovableDof[] {
  const begin = on === "" ? "" : `${on}/`;
  return (scene?.joints ?? [])
    .filter(
      ({ name, type }) =>
        type !== "free" &&
        type !== "ball" &&
        (on === "" ? !name.includes("/") : name.startsWith(begin)),
    )
    .flatMap((joint) =>
      joint.dofs.map((dof) => ({
        name: joint.name.slice(begin.length) + (joint.dofs.length > 1 ? `.${dof.name}` : ""),
        joint,
        dof,
      })),
    );
}
