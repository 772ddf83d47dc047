import type { Json } from './value.ts';

/** Applies a JSON Merge Patch to a document (RFC 7396 section 2; undefined: no document), which it modifies. */
export function mergePatch(patch: Json): (document: Json | undefined) => Json {
  return (document) => merge(document, patch);
}

function merge(target: Json | undefined, patch: Json): Json {
  if (!(patch instanceof Map)) return patch;
  const merged = target instanceof Map ? target : new Map<string, Json>();
  for (const [name, value] of patch) {
    if (value === null) merged.delete(name);
    else merged.set(name, merge(merged.get(name), value));
  }
  return merged;
}
