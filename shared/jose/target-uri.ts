import { remembering } from '#shared/base/recent-map.ts';

const UNRESERVED = /[A-Za-z0-9\-._~]/;

/**
 * Normalises an http or https URI by syntax and scheme (RFC 3986 sections 6.2.2 and 6.2.3) and drops its query and
 * fragment, so that two spellings of `htu` compare equal (RFC 9449 section 4.3). Returns undefined if it is not such a
 * URI.
 */
export const normaliseTargetUri = remembering(
  (uri): string | undefined => {
    // The URL parser would accept these: it drops tabs and turns a backslash into a slash.
    if (!/^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i.test(uri)) return undefined;
    const url = URL.parse(uri);
    if (url === null || url.username !== '' || url.password !== '') return undefined;
    const path = url.pathname.replaceAll(/%[0-9A-Fa-f]{2}/g, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
      return UNRESERVED.test(character) ? character : octet.toUpperCase();
    });
    return url.origin + path;
  },
  { capacity: 1000, longest: 512 },
);
