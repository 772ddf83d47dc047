import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Waits until the file or folder is on the disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
