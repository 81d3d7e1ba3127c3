import type { Dof, JointView, Scene } from "../protocol/messages";

/** A degree of freedom that a movement can move, by its name within the robot. */
export interface Freedom {
  name: string;
  joint: JointView;
  dof: Dof;
}

/** The freedoms of a part in the order of the scene; balls and free bodies have no one value. */
export function freedomsOf(scene: Scene | null, on: string): Freedom[] {
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
