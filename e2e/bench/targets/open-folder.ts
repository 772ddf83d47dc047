import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Makes a folder that a server can read and write after it has given up root. */
export async function openFolder(parent: string, name: string): Promise<string> {
  await chmod(parent, 0o711);
  const path = join(parent, name);
  await mkdir(path);
  await chmod(path, 0o1777);
  return path;
}
