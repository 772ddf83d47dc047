/** Returns whether a target is at a path or below it, with any query. */
export function isBelow(target: string, path: string): boolean {
  const [own = ''] = target.split('?');
  return own === path || own.startsWith(path.endsWith('/') ? path : `${path}/`);
}
