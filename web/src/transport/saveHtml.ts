import { store } from "../app/store";
import { address } from "../app/address";
import { saveBlob } from "../ui/saveFile";
import { toast } from "../ui/toast";

/** Saves the displayed recording as a standalone page. */
export async function saveHtml(): Promise<void> {
  const replay = store.scene?.replay;
  if (!replay) {
    toast({ level: "info", text: "Open a recording first; then it can be saved as HTML." });
    return;
  }
  toast({ level: "info", text: `Making a page of ${replay.name}. This takes a few seconds.` });
  try {
    const query = new URLSearchParams({ path: replay.path });
    const answer = await fetch(address(`/api/recording.html?${query}`), {
      headers: { "x-linkwork-key": store.key },
    });
    if (!answer.ok) {
      const problem = (await answer.json().catch(() => ({}))) as { error?: string };
      throw new Error(problem.error ?? `The server answers ${answer.status}.`);
    }
    saveBlob(await answer.blob(), `${replay.name}.html`);
    toast({ level: "info", text: `${replay.name}.html is saved. It opens in any browser.` });
  } catch (error) {
    toast({ level: "error", text: (error as Error).message });
  }
}
