import { remembering } from '#shared/base/recent-map.ts';
import { forwardedScheme } from '#shared/http/forwarded.ts';
import { single } from '#shared/http/fields.ts';

/**
 * The origin that a proxy was asked for, by X-Forwarded-Proto and X-Forwarded-Host. Undefined: they are missing or
 * malformed. Only for requests of trusted peers. Throws `BadRequest` if one of them appears twice.
 */
export function forwardedOrigin(rawHeaders: readonly string[]): string | undefined {
  const scheme = forwardedScheme(single(rawHeaders, 'x-forwarded-proto'));
  const host = single(rawHeaders, 'x-forwarded-host') ?? '';
  return scheme && originOf(`${scheme}://${host}`);
}

const PLAIN = /^https?:\/\/[A-Za-z0-9._:[\]-]+$/i;

const originOf = remembering(
  (url) => (PLAIN.test(url) && URL.canParse(url) ? new URL(url).origin : undefined),
  { capacity: 1000, longest: 270 },
);
