import { readToken } from "../app/token";
import { store } from "../app/store";
import { toast } from "../ui/toast";

/** Copies the address others can watch at. */
export function share(): void {
  const url = new URL(location.href);
  const local = /^(localhost|127\.|\[::1\])/.test(url.hostname);
  const outside = local && store.address !== "";
  // Who opens the studio on its own machine still shares the name that others reach it by.
  const shared = outside ? new URL(store.address) : new URL(url.pathname, url.origin);
  const token = readToken();
  if (token) shared.searchParams.set("token", token);
  const done = (): void =>
    toast({
      level: "info",
      text:
        local && !outside
          ? "Address copied. It works on this machine only; start with --host to let others watch."
          : "Address copied. Who opens it watches.",
    });
  const copied = navigator.clipboard?.writeText(shared.href) ?? Promise.reject(new Error("none"));
  copied.then(done, () => toast({ level: "info", text: shared.href }));
}
