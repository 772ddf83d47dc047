/** The shared parts of the password and key tests: the pair, two people, and spaces. */
import type { Send } from '../clients/digest/exchange.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import { startStore } from '../flows/flow.ts';
import type { StoreKind } from '../flows/flow.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair, PairOptions } from '../pair/pair.ts';

/** A password with a colon: the first colon of user-pass separates (RFC 7617 section 2). */
export const ALICE = { name: 'alice', password: 'correct horse: battery staple' };
/** A name and a password whose octets differ between UTF-8 and ISO-8859-1. */
export const JASON = { name: 'jäsøn', password: 'grüne Käsebrötchen' };

/** Limits that no test reaches. */
const UNLIMITED = { burst: 1_000_000, per: 0.001 };
const LIMITS = { credentials: UNLIMITED, signIn: UNLIMITED };

type SpaceMembers = Readonly<Record<string, unknown>>;

export interface SiteOptions extends Pick<PairOptions, 'resource'> {
  /** The spaces by one word, which is both path and realm; default: the spaces of the tour. */
  readonly spaces?: Readonly<Record<string, SpaceMembers>>;
}

export interface Site extends AsyncDisposable {
  readonly pair: Pair;
  /** The URL of a space at the first server. */
  url(space: string): string;
  /** The path of a space at every server. */
  path(space: string): string;
  /** Sends alternately to both resource servers. */
  inTurn(): Send;
}

/** Starts the pair on a store of that kind, with two people who have passwords. */
export async function startSite(
  kind: StoreKind,
  { spaces, resource = 1 }: SiteOptions = {},
): Promise<Site> {
  await using parts = new AsyncDisposableStack();
  const store = await startStore(kind, parts);
  const settings = (origins: Pick<Pair, 'resource'>) => ({
    limits: LIMITS,
    ...(spaces && {
      spaces: Object.entries(spaces).map(([realm, members]) => {
        const url = `${origins.resource}/schemes/${realm}/`;
        return Object.assign({ url, realm, serves: 'identity' }, members);
      }),
    }),
  });
  const pair = parts.use(await startPair({ ...store, resource, settings }));
  await Promise.all([ALICE, JASON].map(({ name, password }) => pair.addPerson(name, password)));
  const owned = parts.move();
  return {
    pair,
    url: (space) => `${pair.resource}/schemes/${space}/`,
    path: (space) => `/schemes/${space}/`,
    inTurn: () => inTurn(pair.resources.map(({ url }) => url)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function inTurn(urls: readonly string[]): Send {
  const sends = urls.map((url) => {
    const { hostname, port } = new URL(url);
    return overHttp({ host: hostname, port: Number(port) });
  });
  let turn = 0;
  return (request) => {
    const send = sends[turn % sends.length];
    if (send === undefined) throw new Error('there are no servers');
    turn += 1;
    return send(request);
  };
}

/** Returns the content with which a space identifies the person. */
export function identity(scheme: string, realm: string, { name } = ALICE): string {
  return JSON.stringify({ scheme, realm, principal: { kind: 'person', name } });
}
