import {
  PLAYGROUND_BELOW,
  PLAYGROUND_REALM,
  playgroundSpacePath,
} from '#shared/config/playground.ts';
import type { Config, SpaceConfig } from '#shared/config/schema.ts';
import { spaceSchema } from '#shared/config/space-schema.ts';
import { EXCHANGES } from './exchanges.ts';
import type { Exchange } from './exchange.ts';

/** The path of the page of an exchange. */
export const pagePath = ({ name }: Pick<Exchange, 'name'>): string => PLAYGROUND_BELOW + name;

/** The path of the page that explains texts. No exchange has this name. */
export const EXPLAIN_PATH = `${PLAYGROUND_BELOW}explain`;

/** The path of the space of an exchange. */
export const spacePath = ({ name }: Exchange): string => playgroundSpacePath(name);

/** The playground's own spaces, which accept only its own credentials. `application`: the URL of its application. */
export const playgroundSpaces = (
  { resource }: Pick<Config, 'resource'>,
  application: string,
): { readonly seen: readonly SpaceConfig[]; readonly inside: readonly SpaceConfig[] } => {
  const spacesOf = (isInside: boolean) =>
    EXCHANGES.filter(({ inside = false }) => inside === isInside).map((exchange) =>
      spaceSchema.parse({
        url: resource + spacePath(exchange),
        realm: PLAYGROUND_REALM,
        serves: 'identity',
        ...exchange.space,
        ...(exchange.ofApplication && { upstream: { url: application, webSockets: false } }),
      }),
    );
  return { seen: spacesOf(false), inside: spacesOf(true) };
};
