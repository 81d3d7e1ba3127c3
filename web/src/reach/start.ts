import "../styles/reach.css";
import type { Stage } from "../views/stage";
import { tool } from "../views/tool";
import { ReachTool } from "./reachTool";

/** Adds the tool to the views, once. */
export function startReach(stage: Stage): ReachTool {
  if (tool.current instanceof ReachTool) return tool.current;
  const made = new ReachTool();
  tool.current = made;
  stage.marks.root.add(made.root);
  stage.refresh();
  return made;
}
