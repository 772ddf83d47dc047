import { remembering } from '#shared/base/recent-map.ts';

/**
 * Servers decode more than once, take a backslash or a wide slash for a slash, and drop what follows a semicolon.
 */
const TIMES = 3;
const ENCODED = /%([0-9a-f]{2})/gi;
const PARAMETERS = /;[^/]*/g;
/** Windows takes no notice of dots and spaces at the end of a name. Only the first of a row is tried. */
const END = /(?<![. ])[. ]+$/;
const DOTS = /^\.[. ]*$/;

/**
 * The segments that an application might find in a path at the very most: decoded as often as it can be, without
 * parameters and doubled slashes. Undefined: with a dot segment, by which it would lead out of where it seems to
 * be, or with NUL, at which it would end.
 */
export const boldestReading: (target: string) => readonly string[] | undefined = remembering(
  (target) => {
    let path = target.replace(/^[a-z]+:\/\/[^/?]*/i, '').replace(/\?.*$/s, '');
    for (let time = 0; time < TIMES && path.includes('%'); time += 1) {
      path = path.replaceAll(ENCODED, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    }
    if (path.includes('\0')) return undefined;
    const plain = asUtf8(path).normalize('NFKC').replaceAll('\\', '/').replaceAll(PARAMETERS, '');
    const segments = plain.split('/');
    if (segments.some((segment) => DOTS.test(segment))) return undefined;
    return segments.map(boldestName).filter((segment) => segment !== '');
  },
  { capacity: 1000, longest: 512 },
);

/** What a name might be taken for, whatever case it is in. */
export const boldestName = (name: string) => name.normalize('NFKC').replace(END, '');

/** Octets were decoded one by one. */
const asUtf8 = (text: string) => Buffer.from(text, 'latin1').toString();
