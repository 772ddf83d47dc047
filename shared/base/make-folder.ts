import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The mode of a folder that only its owner can use. */
const OWN = 0o700;

/**
 * Makes the folder and its missing parents, and returns the topmost new folder. Throws the system's error if it
 * cannot. Node's own `recursive` never ends if the parent exists and the system nevertheless says ENOENT, as in
 * /proc.
 */
export function makeFolder(folder: string, mode = OWN): string | undefined {
  if (isFolder(folder)) return undefined;
  const above = dirname(folder);
  const first = above === folder ? undefined : makeFolder(above, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!isFolder(folder)) throw error;
    return first; // another process has made the folder meanwhile
  }
  return first ?? folder;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
