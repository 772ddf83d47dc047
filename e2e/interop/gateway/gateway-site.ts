/** The pair with applications behind its gateway, and two people. */
import { startPair } from '../../pair/pair.ts';
import type { Pair } from '../../pair/pair.ts';
import type { Field } from '../../clients/digest/exchange.ts';
import { ALICE, JASON } from '../site.ts';

type Members = Readonly<Record<string, unknown>>;

/** A space by its path and realm, without the members that all spaces share. */
export interface Gate extends Members {
  readonly upstream: Members;
}

/** Limits that no test reaches. */
const UNLIMITED = { burst: 1_000_000, per: 0.001 };

export interface GatewaySite extends AsyncDisposable {
  readonly pair: Pair;
  readonly origin: string;
}

type Gates = Readonly<Record<string, Gate>>;

/** `gates`: spaces by path without outer slashes; `more`: further members of the configuration. */
export async function startGatewaySite(
  gates: Gates | ((origin: string) => Gates),
  more: Members & { readonly resource?: string } = {},
): Promise<GatewaySite> {
  await using parts = new AsyncDisposableStack();
  const settings = (origins: Pick<Pair, 'resource'>) => {
    const origin = more.resource ?? origins.resource;
    return {
      limits: { credentials: UNLIMITED, signIn: UNLIMITED },
      ...more,
      spaces: Object.entries(typeof gates === 'function' ? gates(origin) : gates).map(
        ([path, members]) =>
          Object.assign(
            { url: `${origin}/${path}/`, realm: path, schemes: ['Basic'], serves: 'upstream' },
            members,
          ),
      ),
    };
  };
  const pair = parts.use(await startPair({ settings }));
  await Promise.all([ALICE, JASON].map(({ name, password }) => pair.addPerson(name, password)));
  const owned = parts.move();
  return {
    pair,
    origin: more.resource ?? pair.resource,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Basic credentials of a person (RFC 7617), in UTF-8. */
export const basic = ({ name, password } = ALICE): Field => [
  'Authorization',
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
];
