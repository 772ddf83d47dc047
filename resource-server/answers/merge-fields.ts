import type { Fields } from '#shared/http/answer.ts';

/** Merges fields. Later fields replace earlier ones, but Vary keeps all members (RFC 9110 section 12.5.5). */
export function mergeFields(...all: readonly Fields[]): Fields {
  const fields = Object.assign({}, ...all);
  if (fields.Vary === undefined) return fields;
  const vary = all.flatMap(({ Vary = [] }) => Vary).flatMap((names) => names.split(/, */));
  return vary.length === 0 ? fields : { ...fields, Vary: [...new Set(vary)].join(', ') };
}
