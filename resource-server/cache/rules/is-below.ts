/** Whether a target is a path or one below it, with whatever query. */
export function isBelow(target: string, path: string): boolean {
  const [own = ''] = target.split('?');
  return own === path || own.startsWith(path.endsWith('/') ? path : `${path}/`);
}
