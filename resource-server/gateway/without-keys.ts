import { isApiKeyLike } from '#shared/people/api-key.ts';

/**
 * Makes of a target the same without the API keys in its query, in whatever spelling; the rest stays as it came. `own`: the parameter in
 * which the space itself takes keys, which is removed whatever it has. `every`: those in which some space does, which
 * are removed where they have a key of ours.
 */
export const withoutKeys =
  (own: string | undefined, every: ReadonlySet<string>) =>
  (target: string): string => {
    const mark = target.indexOf('?');
    if (mark === -1 || every.size === 0) return target;
    const isKey = ([name, value]: [string, string]) =>
      name === own || (every.has(name) && isApiKeyLike(value));
    const pairs = target.slice(mark + 1).split('&');
    const kept = pairs.filter((pair) => ![...new URLSearchParams(pair)].some(isKey));
    if (kept.length === pairs.length) return target;
    return target.slice(0, mark) + (kept.length === 0 ? '' : `?${kept.join('&')}`);
  };
