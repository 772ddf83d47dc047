import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns the points that the MDN HTTP Observatory (version 5 of its rules) gives the fields of an answer over https;
 * 100 or more mean the grade A+. The Observatory's own package is not used, since it needs a database and downloads
 * when it is installed.
 */
export function observatoryScore(headers: IncomingHttpHeaders): number {
  const field = (name: string) => [headers[name] ?? ''].flat().join().toLowerCase();
  const policy = field('content-security-policy');
  const maxAge = Number(/max-age=(\d+)/.exec(field('strict-transport-security'))?.[1] ?? 0);
  const cookies = headers['set-cookie'] ?? [];
  const careful = cookies.every((cookie) => /; secure/i.test(cookie) && /; httponly/i.test(cookie));

  const missing = [
    !/default-src 'none'|script-src '/.test(policy) && 25,
    /unsafe/.test(policy) && 20,
    maxAge < 15_768_000 && (maxAge === 0 ? 20 : 10),
    field('x-content-type-options') !== 'nosniff' && 5,
    !/frame-ancestors/.test(policy) && field('x-frame-options') === '' && 20,
    !careful && 40,
  ];
  const base = missing.reduce((score: number, points) => score - Number(points), 100);
  if (base < 90) return base;
  const extra = [
    /default-src 'none'/.test(policy) && 10,
    /frame-ancestors 'none'/.test(policy) && 5,
    /^(?:no-referrer|same-origin|strict-origin.*)$/.test(field('referrer-policy')) && 5,
  ];
  return extra.reduce((score: number, points) => score + Number(points), base);
}
