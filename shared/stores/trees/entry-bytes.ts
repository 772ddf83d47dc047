import type { Entry } from './trees.ts';

/** Returns the bytes of an entry: its content and its dead properties. */
export function bytesOf(entry: Entry): number {
  return (entry.kind === 'document' ? entry.length : 0) + propertyBytesOf(entry);
}

/** Returns the bytes of the names and values of its dead properties, in UTF-8. */
export function propertyBytesOf({ properties }: Entry): number {
  return Object.entries(properties)
    .flat()
    .reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
