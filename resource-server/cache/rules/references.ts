import { groupOf } from '#shared/http/spelling.ts';

/** Returns path and query of a reference in an answer to `target`. Undefined: another origin, or malformed. */
export function targetOf(reference: string, target: string, origin: string): string | undefined {
  const url = URL.parse(reference, origin + target);
  return url?.origin === origin ? url.pathname + url.search : undefined;
}

export function isOfTarget(reference: string, target: string, origin: string): boolean {
  const named = targetOf(reference, target, origin);
  return named !== undefined && groupOf(named) === groupOf(target);
}
