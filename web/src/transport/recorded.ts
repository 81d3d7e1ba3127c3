import { command } from "../app/session";
import { store } from "../app/store";
import { on } from "../app/topics";
import { toast } from "../ui/toast";

/** Shows where a finished recording was saved, and offers to open it. */
export function announceRecordings(): void {
  let last: string | null = null;
  on(["status", "scene"], () => {
    const now = store.status?.recording ?? null;
    const ended = last !== null && now === null && store.scene !== null && !store.scene.replay;
    if (ended) {
      const path = last!;
      toast({
        level: "info",
        text: `Recorded to ${path.split("/").at(-1)}.`,
        action: { label: "Open it", run: () => void command({ type: "open", scene: path }) },
      });
    }
    last = store.scene?.replay ? null : now;
  });
}
