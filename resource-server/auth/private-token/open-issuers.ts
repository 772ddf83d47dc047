import { KeysUnavailable } from '#shared/auth/tokens/issuer-keys.ts';
import { forAll } from '#shared/base/for-all.ts';
import { RecentMap } from '#shared/base/recent-map.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import type { TrustedIssuer } from '#shared/auth/schemes/parts/token-issuer.ts';
import type { Config } from '#shared/config/schema.ts';
import { tokenIssuerSpaces, VERIFY_SCOPE } from '#shared/config/token-spaces.ts';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import { RESOURCE_SERVER, secret } from '#shared/config/resource-server-client.ts';
import { originOfServer, serverNameOf } from '#shared/private-token/server-name.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import type { VoprfThreads } from '#shared/private-token/voprf-threads.ts';
import type { Parts } from '#shared/server/process.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { clientCredentials } from './client-credentials.ts';
import { fetchDirectory } from './fetch-directory.ts';
import {
  type IssuerDirectoryOptions,
  type DirectoryKeys,
  openDirectory,
} from './issuer-directory.ts';
import type { Send } from '#shared/client/send.ts';
import { verificationByIssuer } from './verification-by-issuer.ts';
import { verificationByStore } from './verification-by-store.ts';
import { blindRsaVerification, type Verify } from './verification.ts';

export interface IssuersOptions extends Pick<
  Parts,
  'config' | 'stores' | 'master' | 'clock' | 'log'
> {
  /** Sends requests to other issuers. */
  readonly send: Send;
  /**
   * Sends requests to this pair's authorization server and issuer, whose certificate may be a development certificate.
   */
  readonly sendToPair: Send;
  /** The threads that verify tokens if `privateTokens.verification` is the store. */
  readonly voprf: Pick<VoprfThreads, 'evaluate'>;
}

/** The differences between issuers. */
interface Kind {
  readonly send: Send;
  readonly endOf: IssuerDirectoryOptions['endOf'];
  /** The verification function of each accepted token type. */
  readonly verify: ReadonlyMap<TokenType, Verify>;
  /** Whether tokens of a type can be verified now. Absent: always. */
  readonly canVerify?: (type: TokenType) => Promise<boolean>;
}

/** Seconds for which keys of another issuer are used, since it publishes only their start. */
const LIFE_ELSEWHERE = 30 * 86_400;
/** The most remembered ends of another issuer's keys, many times the keys of a directory. */
const ENDS = 1024;

/** Returns the issuer with that name, or this pair's issuer without a name. All callers get the same object. */
export function openIssuers(options: IssuersOptions): (name: string | undefined) => TrustedIssuer {
  const { config, stores, clock, log } = options;
  const { privateTokens } = config;
  const own = privateTokens && serverNameOf(privateTokens.issuer);
  const verifyUrl = tokenIssuerSpaces(config)?.verify.url;
  const opened = new Map<string, TrustedIssuer>();

  function open(name: string): TrustedIssuer {
    const { send, endOf, verify, canVerify } =
      privateTokens && verifyUrl !== undefined && name === own
        ? thisPair(options, privateTokens, verifyUrl)
        : another(options);
    const directory = (query = '') =>
      openDirectory({
        url: originOfServer(name) + DIRECTORY_PATH + query,
        fetch: (url) => fetchDirectory(send, url),
        types: [...verify.keys()],
        endOf,
        skew: config.tokens.skew,
        cooldown: config.jwks.cooldown,
        clock,
        log,
      });
    const keys =
      name === own
        ? followingStore((memory) => directory(`?memory=${memory}`), stores)
        : directory();
    return {
      name,
      ...keys,
      ...(canVerify && {
        keys: async (type: TokenType) => ((await canVerify(type)) ? keys.keys(type) : []),
      }),
      verify: (token, ...more) => verify.get(token.type)?.(token, ...more) ?? false,
    };
  }

  return (name = own) => {
    if (name === undefined) throw new Error('this pair issues no tokens: add privateTokens');
    const issuer = opened.get(name) ?? open(name);
    opened.set(name, issuer);
    return issuer;
  };
}

/**
 * The keys of this pair's issuer, which are in the store together with the spent tokens.
 * When the store has lost its memory or the keys were recalled, keys that were fetched before are no longer valid. The
 * directory then has another URL, which is in no HTTP cache yet. The store itself is read each time, once for all
 * waiting tokens, since the feed may be a second behind. Throws `KeysUnavailable` while the store has no memory.
 */
function followingStore(
  open: (memory: string) => DirectoryKeys,
  { revocations, tokenKeys }: Pick<Stores, 'revocations' | 'tokenKeys'>,
): DirectoryKeys {
  let current: { readonly memory: string; readonly directory: DirectoryKeys } | undefined;

  const ask = forAll(() => Promise.all([revocations.epoch(false), tokenKeys.recalls()]));

  async function inMemory<Found>(look: (directory: DirectoryKeys) => Awaitable<Found>) {
    const [epoch, recalls] = await ask();
    if (epoch === undefined) throw new KeysUnavailable(1);
    const memory = `${epoch}.${recalls}`;
    if (current?.memory !== memory) current = { memory, directory: open(memory) };
    const { directory } = current;
    const found = await look(directory);
    if (current.directory !== directory) throw new KeysUnavailable(1);
    return found;
  }

  return {
    keys: (type) => inMemory((directory) => directory.keys(type)),
    key: (type, id) => inMemory((directory) => directory.key(type, id)),
  };
}

/**
 * Returns the ends of another issuer's keys, which publishes only their start.
 * If the issuer later moves the start of a key, the first end stays. Otherwise tokens that were spent and forgotten
 * would be accepted again. This holds as long as the process runs. A process that starts after the first end accepts
 * such a key, and tokens that were spent before, until the new end.
 */
function endsElsewhere(): Kind['endOf'] {
  const ends = new RecentMap<number>(ENDS);
  return ({ id, notBefore }) => {
    if (notBefore === undefined) return undefined;
    const name = id.toString('base64url');
    const end = Math.min(notBefore + LIFE_ELSEWHERE, ends.get(name) ?? Infinity);
    ends.set(name, end);
    return end;
  };
}

function another({ send }: IssuersOptions): Kind {
  return {
    send,
    endOf: endsElsewhere(),
    verify: new Map([[BLIND_RSA, blindRsaVerification()]]),
  };
}

function thisPair(
  options: IssuersOptions,
  times: NonNullable<Config['privateTokens']>,
  url: string,
): Kind {
  const { config, sendToPair: send, master, clock, log } = options;
  const accessTokens = clientCredentials({
    url: `${config.issuer}/token`,
    clientId: RESOURCE_SERVER,
    secret: secret(master),
    resource: url,
    scope: VERIFY_SCOPE,
    send,
    clock,
    log,
  });
  const voprf = {
    issuer: () => verificationByIssuer({ url, accessTokens, send, log }),
    store: () => verificationByStore({ ...options, times }),
  };
  /**
   * Without an access token the issuer verifies nothing for this server, for example because its client was removed.
   */
  const canVerify = async (type: TokenType) =>
    type !== VOPRF ||
    accessTokens.token().then(
      () => true,
      () => false,
    );
  return {
    send,
    endOf: ({ notAfter }) => notAfter,
    ...(times.verification === 'issuer' && { canVerify }),
    verify: new Map([
      [BLIND_RSA, blindRsaVerification()],
      [VOPRF, voprf[times.verification]()],
    ]),
  };
}
