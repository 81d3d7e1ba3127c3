const KEY = "linkwork-token";

/** The token of this visit: from the address once, then from the tab's own memory. */
export function readToken(): string {
  const url = new URL(location.href);
  const given = url.searchParams.get("token");
  if (given !== null) {
    sessionStorage.setItem(KEY, given);
    return given;
  }
  return sessionStorage.getItem(KEY) ?? "";
}

/** An address of the server with the token in it, for pictures, meshes and uploads. */
export function address(path: string): string {
  const url = new URL(path.replace(/^\//, ""), new URL("./", location.href));
  const token = readToken();
  if (token) url.searchParams.set("token", token);
  return url.href;
}
