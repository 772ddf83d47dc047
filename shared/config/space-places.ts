import type { Mistake } from '#shared/base/mistake.ts';
import { parseTarget } from '#shared/http/target.ts';
import { eachSpace, type Rule } from './rule.ts';
import type { Config, SpaceConfig } from './schema.ts';
import { SIGN_IN_PREFIX, signInSpaces } from './sign-in-clients.ts';

/** Paths of the resource server itself, which no space may take. */
const RESERVED = /^\/(\.well-known|health|verify)(\/|$)/;

/** Paths that are reserved at every origin where people sign in. */
const SIGN_IN = new RegExp(`^/${SIGN_IN_PREFIX.replace('.', String.raw`\.`)}(/|$)`);

/**
 * Whether no space may have this path. `own`: at an origin of the resource server; `signIn`: at an origin where people
 * sign in.
 */
export const isReserved = (
  path: string,
  { own, signIn }: { readonly own: boolean; readonly signIn: boolean },
): boolean => (own && RESERVED.test(path)) || (signIn && SIGN_IN.test(path));

/**
 * Returns the origin and decoded path of a space, without a slash at the end. Undefined if the URL cannot be decoded.
 */
function place(url: string): string | undefined {
  const { origin, pathname } = new URL(url);
  const target = parseTarget(pathname);
  return target && [origin, ...target.segments].join('/');
}

/** Returns a mistake for each space whose key an earlier space has. */
function repeated(
  config: Config,
  key: (space: SpaceConfig) => string,
  say: (first: number) => Mistake['message'],
  member: string,
): Mistake[] {
  const keys = config.spaces.map(key);
  return keys.flatMap((value, index) => {
    const first = keys.indexOf(value);
    return first === index ? [] : [{ path: `spaces.${index}.${member}`, message: say(first) }];
  });
}

/** Rules about the URLs and realms of spaces: requests can reach each URL, and no two spaces share one. */
export const PLACE_RULES: readonly Rule[] = [
  {
    reads: ['spaces'],
    check: ({ spaces }) =>
      spaces.length === 0
        ? [
            {
              path: 'spaces',
              message: 'is empty: name a space, or leave `spaces` out for the tour',
            },
          ]
        : [],
  },
  {
    reads: ['spaces'],
    check: (config) =>
      repeated(
        config,
        ({ url }) => place(url) ?? url,
        (first) =>
          `is the place and audience of spaces.${first} already: one space has one list of schemes and one alg`,
        'url',
      ),
  },
  {
    reads: ['spaces'],
    check: (config) =>
      repeated(
        config,
        ({ url, realm }) => `${new URL(url).origin} ${realm}`,
        (first) =>
          `is the realm of spaces.${first} already: origin and realm name a protection space (RFC 9110 section 11.5)`,
        'realm',
      ),
  },
  {
    reads: ['spaces', 'resource'],
    check: (config) =>
      eachSpace(config, 'url', ({ url, serves }) =>
        serves !== 'verify' && new URL(url).origin !== config.resource
          ? `must begin with ${config.resource}/, the public origin of the resource server, to serve anything there`
          : undefined,
      ),
  },
  {
    reads: ['spaces', 'resource'],
    check: (config) => {
      const signIn = new Set(signInSpaces(config).map(({ origin }) => origin));
      return eachSpace(config, 'url', ({ url }) => {
        const { origin, pathname } = new URL(url);
        const at = { own: origin === config.resource, signIn: signIn.has(origin) };
        return isReserved(pathname, at)
          ? 'is a path of the resource server itself: choose another than /.well-known, /health, /verify and, where people sign in, /.countersign'
          : undefined;
      });
    },
  },
  {
    reads: ['spaces'],
    check: (config) =>
      eachSpace(config, 'url', ({ url }) =>
        place(url) === undefined
          ? 'has an empty segment, %2F, %5C, %00 or a broken escape in its path: no request can ever reach it'
          : undefined,
      ),
  },
];
