import { readToken } from "../app/token";
import { toast } from "../ui/toast";

/** Copies the address others can watch at. */
export function share(): void {
  const url = new URL(location.href);
  const token = readToken();
  if (token) url.searchParams.set("token", token);
  const local = /^(localhost|127\.|\[::1\])/.test(url.hostname);
  const done = (): void =>
    toast({
      level: "info",
      text: local
        ? "Address copied. It works on this machine only; start with --host to let others watch."
        : "Address copied. Who opens it watches.",
    });
  navigator.clipboard
    .writeText(url.href)
    .then(done, () => toast({ level: "info", text: url.href }));
}
