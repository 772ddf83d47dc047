import type { Entry } from './trees.ts';

/**
 * What an entry adds to the bytes of its tree: its content, and the names and values of its dead
 * properties in UTF-8.
 */
export function bytesOf(entry: Entry): number {
  const content = entry.kind === 'document' ? entry.length : 0;
  return Object.entries(entry.properties)
    .flat()
    .reduce((sum, text) => sum + Buffer.byteLength(text), content);
}
