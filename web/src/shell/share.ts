import { address } from "../app/address";
import type { ShareToken } from "../protocol/messages";
import { store } from "../app/store";
import { toast } from "../ui/toast";

/** Copies the address for other clients, with the token, which only the server knows. */
export async function share(): Promise<void> {
  const url = new URL(location.href);
  const local = /^(localhost|127\.|\[::1\])/.test(url.hostname);
  const outside = local && store.address !== "";
  // A studio opened on its own machine still shares the address for other machines.
  const shared = outside ? new URL(store.address) : new URL(url.pathname, url.origin);
  try {
    const answer = await fetch(address("/api/share"));
    if (!answer.ok) throw new Error(`The server answers ${answer.status}.`);
    shared.searchParams.set("token", ((await answer.json()) as ShareToken).token);
  } catch (error) {
    toast({ level: "error", text: `There is no address to share. ${(error as Error).message}` });
    return;
  }
  try {
    await navigator.clipboard.writeText(shared.href);
  } catch {
    toast({ level: "info", text: shared.href });
    return;
  }
  toast({
    level: "info",
    text:
      local && !outside
        ? "Address copied. It works on this machine only; start with --host to let others watch."
        : "Address copied. Anyone who opens it can watch.",
  });
}
