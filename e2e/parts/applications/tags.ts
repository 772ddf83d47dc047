/** The tagged application's answer at a path: up to 40,000 octets, which repeat a part of the path. */
import { createHash } from 'node:crypto';

const number = (path: string) => createHash('sha256').update(path).digest().readUInt32BE();

export function contentFor(path: string): string {
  return path.repeat(1 + (number(path) % Math.floor(40_000 / path.length)));
}

export function framingFor(path: string): 'whole' | 'pieces' | 'close' {
  return (['whole', 'pieces', 'whole', 'pieces', 'close'] as const)[number(path) % 5] ?? 'whole';
}
