import { KeysUnavailable } from '#shared/auth/issuer-keys.ts';
import type { TokenIssuer } from '#shared/auth/schemes/private-token/issuer.ts';
import type { Config } from '#shared/config/schema.ts';
import { tokenIssuerSpaces, VERIFY_SCOPE } from '#shared/oauth/token-spaces.ts';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import { RESOURCE_SERVER, secret } from '#shared/private-token/resource-server-client.ts';
import { originOfServer, serverNameOf } from '#shared/private-token/server-name.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import type { VoprfThreads } from '#shared/private-token/voprf-threads.ts';
import type { Parts } from '#shared/server/process.ts';
import type { Revocations } from '#shared/stores/revocations.ts';
import { clientCredentials } from './client-credentials.ts';
import { fetchDirectory } from './fetch-directory.ts';
import { type IssuerDirectoryOptions, type IssuerKeys, openDirectory } from './issuer-directory.ts';
import type { Send } from './send.ts';
import { verificationByIssuer } from './verification-by-issuer.ts';
import { verificationByStore } from './verification-by-store.ts';
import { blindRsaVerification, type Verify } from './verification.ts';

export interface IssuersOptions extends Pick<
  Parts,
  'config' | 'stores' | 'master' | 'clock' | 'log'
> {
  /** To other issuers. */
  readonly send: Send;
  /** To this pair's authorization server and issuer, whose certificate may be one of development. */
  readonly sendToPair: Send;
  /** For `privateTokens.verification` by the store. */
  readonly voprf: Pick<VoprfThreads, 'evaluate'>;
}

/** What makes one issuer different from another. */
interface Kind {
  readonly send: Send;
  readonly endOf: IssuerDirectoryOptions['endOf'];
  /** By the types that are taken of it. */
  readonly verify: ReadonlyMap<TokenType, Verify>;
}

/** Another issuer only says from when on a key is good: for so many seconds it is used. */
const LIFE_ELSEWHERE = 30 * 86_400;

/** Gives the issuer of that name, and this pair's for none: one object, whoever asks. */
export function openIssuers(options: IssuersOptions): (name: string | undefined) => TokenIssuer {
  const { config, stores, clock, log } = options;
  const { privateTokens } = config;
  const own = privateTokens && serverNameOf(privateTokens.issuer);
  const verifyUrl = tokenIssuerSpaces(config)?.verify.url;
  const opened = new Map<string, TokenIssuer>();

  function open(name: string): TokenIssuer {
    const { send, endOf, verify } =
      privateTokens && verifyUrl !== undefined && name === own
        ? thisPair(options, privateTokens, verifyUrl)
        : another(options);
    const directory = openDirectory({
      url: originOfServer(name) + DIRECTORY_PATH,
      fetch: (url) => fetchDirectory(send, url),
      types: [...verify.keys()],
      endOf,
      skew: config.tokens.skew,
      cooldown: config.jwks.cooldown,
      clock,
      log,
    });
    return {
      name,
      ...(name === own ? followingMemory(directory, stores.revocations) : directory),
      verify: (token, key) => verify.get(token.type)?.(token, key) ?? false,
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
 * The issuer's keys are in the store, beside what was spent. When the store has lost its memory, keys that
 * were fetched before are not good any more. The store itself is asked each time: what the feed knows may
 * be a second old. Throws `KeysUnavailable` while it has no memory.
 */
function followingMemory(
  directory: IssuerKeys,
  revocations: Pick<Revocations, 'epoch'>,
): Pick<TokenIssuer, 'keys' | 'key'> {
  let epoch: string | undefined;

  async function follow(): Promise<void> {
    const current = await revocations.epoch(false);
    if (current === undefined) throw new KeysUnavailable(1);
    if (epoch !== undefined && epoch !== current) directory.forget();
    epoch = current;
  }

  return {
    async keys(type) {
      await follow();
      return directory.keys(type);
    },
    async key(type, id) {
      await follow();
      return directory.key(type, id);
    },
  };
}

function another({ send }: IssuersOptions): Kind {
  return {
    send,
    endOf: ({ notBefore }) => (notBefore === undefined ? undefined : notBefore + LIFE_ELSEWHERE),
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
  return {
    send,
    endOf: ({ notAfter }) => notAfter,
    verify: new Map([
      [BLIND_RSA, blindRsaVerification()],
      [VOPRF, voprf[times.verification]()],
    ]),
  };
}
