import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** For their owner alone. */
const OWN = 0o700;

/**
 * Makes the folder and those above it that are missing, and returns the topmost that it has made. Throws the system's
 * error if it cannot. Node's own `recursive` never ends where the folder above is there and the system says ENOENT all
 * the same, as in /proc.
 */
export function makeFolder(folder: string, mode = OWN): string | undefined {
  if (isFolder(folder)) return undefined;
  const above = dirname(folder);
  const first = above === folder ? undefined : makeFolder(above, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!isFolder(folder)) throw error;
    return first; // another process has made it meanwhile
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
