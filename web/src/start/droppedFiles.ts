export interface NamedFile {
  file: File;
  /** Path inside the dropped folder, so that meshes are found. */
  path: string;
}

/** All files of a drop, including those in folders. */
export async function droppedFiles(data: DataTransfer): Promise<NamedFile[]> {
  const entries = [...data.items]
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry !== null);
  if (entries.length === 0) return [...data.files].map((file) => ({ file, path: file.name }));
  const all = await Promise.all(entries.map((entry) => walk(entry)));
  return all.flat();
}

async function walk(entry: FileSystemEntry): Promise<NamedFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((yes, no) => (entry as FileSystemFileEntry).file(yes, no));
    return [{ file, path: entry.fullPath.replace(/^\//, "") }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const inside: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((yes, no) => reader.readEntries(yes, no));
    if (some.length === 0) break;
    inside.push(...some);
  }
  return (await Promise.all(inside.map((e) => walk(e)))).flat();
}
