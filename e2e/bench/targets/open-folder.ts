import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A new folder for a server that gives up root and then still reads and writes in it. */
export async function openFolder(parent: string, name: string): Promise<string> {
  await chmod(parent, 0o711);
  const path = join(parent, name);
  await mkdir(path);
  await chmod(path, 0o1777);
  return path;
}
