import { parseJson } from './parse.ts';
import type { Json } from './value.ts';
import { writeJson } from './write.ts';

export function json(text: string): Json {
  return parseJson(Buffer.from(text));
}

export function textOf(value: Json): string {
  return writeJson(value, 1_000_000).toString();
}
