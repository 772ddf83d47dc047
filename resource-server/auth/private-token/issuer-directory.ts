import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { IssuerKey, TrustedIssuer } from '#shared/auth/schemes/parts/token-issuer.ts';
import { type DirectoryKey, parseDirectory } from '#shared/private-token/issuer-directory.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import { keepDocument } from '#shared/auth/tokens/kept-document.ts';
import type { FetchedDirectory } from './fetch-directory.ts';

export interface IssuerDirectoryOptions {
  readonly url: string;
  readonly fetch: (url: string) => Promise<FetchedDirectory>;
  /** The token types whose keys are used; others are ignored. */
  readonly types: readonly TokenType[];
  /** The time in seconds since the epoch from which tokens of the key are refused. Undefined: unknown. */
  readonly endOf: (key: DirectoryKey) => number | undefined;
  /** Seconds by which the issuer's clock may be ahead. */
  readonly skew: number;
  /** Seconds between two fetches for an unknown key. */
  readonly cooldown: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** `keys`, which challenges use, does not wait for an issuer whose last answer failed. */
export type DirectoryKeys = Pick<TrustedIssuer, 'keys' | 'key'>;

interface KnownKey extends DirectoryKey, IssuerKey {}

/** The keys of an issuer from its directory (RFC 9578 section 4), fetched over HTTP. */
export function openDirectory(options: IssuerDirectoryOptions): DirectoryKeys {
  const { url, fetch, types, endOf, skew, cooldown, clock, log } = options;

  const directory = keepDocument<readonly KnownKey[]>({
    async fetch() {
      const { document, maxAge } = await fetch(url);
      const keys = parseDirectory(document, url).keys.filter(({ type }) => types.includes(type));
      return { value: keys.map(withEnd), maxAge };
    },
    clock,
    cooldown,
    failed: (reason) => log.warn('private-token.directory', { url, reason }),
  });

  function withEnd(key: DirectoryKey): KnownKey {
    const end = endOf(key);
    return { ...key, until: end === undefined ? undefined : end * 1000 };
  }

  const isUsable = ({ notBefore = 0, until = Infinity }: KnownKey, ahead: number) =>
    (notBefore - ahead) * 1000 <= clock.now() && clock.now() < until;

  return {
    async keys(type) {
      if (!types.includes(type)) return [];
      const usable = await directory.findAtOnce((known) => {
        const ofType = known.filter((key) => key.type === type);
        // If no key is valid yet, a key that is valid by the issuer's faster clock is offered.
        const offers = [0, skew].map((ahead) => ofType.filter((key) => isUsable(key, ahead)));
        return offers.find((keys) => keys.length > 0);
      });
      return usable ?? [];
    },
    async key(type, id) {
      if (!types.includes(type)) return undefined;
      const found = await directory.find((known) =>
        known.find((key) => key.type === type && key.id.equals(id)),
      );
      return found && isUsable(found, skew) ? found : undefined;
    },
  };
}
