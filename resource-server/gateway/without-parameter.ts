/** A target without the parameters of this name in its query, by whatever spelling; what is left stays as it came. */
export function withoutParameter(target: string, name: string): string {
  const mark = target.indexOf('?');
  if (mark === -1) return target;
  const pairs = target.slice(mark + 1).split('&');
  const kept = pairs.filter((pair) => !new URLSearchParams(pair).has(name));
  if (kept.length === pairs.length) return target;
  return target.slice(0, mark) + (kept.length === 0 ? '' : `?${kept.join('&')}`);
}
