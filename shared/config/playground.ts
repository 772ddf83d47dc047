import type { Mistake } from '#shared/base/mistake.ts';
import { isProduction } from './production.ts';
import type { Rule } from './rule.ts';
import type { Config } from './schema.ts';
import { everySpace } from './second-origin.ts';

/** The path of the page that lists the exchanges. */
export const PLAYGROUND_LIST = '/schemes/';
/** The path below which its other pages and its spaces are. */
export const PLAYGROUND_BELOW = '/playground/';

/** The path of the space at which one of its exchanges takes place. */
export const playgroundSpacePath = (name: string): string => `${PLAYGROUND_BELOW}at/${name}/`;

/** The realm of its spaces, and the scope of those that take tokens. */
export const PLAYGROUND_REALM = 'playground';
export const PLAYGROUND_SCOPE = 'play';

/** Returns the URLs of spaces whose paths the playground would need. */
function inTheWay(config: Config): readonly string[] {
  const own = new Set([config.resource, config.tls?.resource]);
  return everySpace(config).flatMap(({ url }) => {
    const { origin, pathname } = new URL(url);
    const path = pathname.endsWith('/') ? pathname : `${pathname}/`;
    const meets =
      PLAYGROUND_LIST.startsWith(path) ||
      PLAYGROUND_BELOW.startsWith(path) ||
      path.startsWith(PLAYGROUND_BELOW);
    return own.has(origin) && meets ? [url] : [];
  });
}

/**
 * Whether the resource server has the playground: in development, unless a space has its addresses, and in production
 * only where the configuration says so.
 */
export function hasPlayground(config: Config): boolean {
  return config.playground ?? (!isProduction(config) && inTheWay(config).length === 0);
}

export const PLAYGROUND_RULE: Rule = {
  reads: ['playground', 'spaces', 'resource', 'tls'],
  check(config): readonly Mistake[] {
    const [url] = config.playground ? inTheWay(config) : [];
    if (url === undefined) return [];
    return [
      {
        path: 'playground',
        message: `needs ${PLAYGROUND_LIST} and all below ${PLAYGROUND_BELOW}, which the space ${url} has: give the space another path, or remove this`,
      },
    ];
  },
};
