import { createPrivateKey, type KeyObject } from 'node:crypto';
import { ORIGIN, type ProtectionSpace } from '#shared/auth/scheme.ts';
import type { OAuthSchemes } from '#shared/auth/schemes/parts/oauth.ts';
import type { IssuerKey, TrustedIssuer } from '#shared/auth/schemes/parts/token-issuer.ts';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import { REQUEST_SCOPE } from '#shared/config/token-spaces.ts';
import { HttpError, UNSTORED, unprocessable } from '#shared/http/answer.ts';
import { blindSign, generateBlindRsaKey } from '#shared/private-token/blind-rsa.ts';
import {
  DIRECTORY_PATH,
  DIRECTORY_TYPE,
  formatDirectory,
  REQUEST_TYPE,
  RESPONSE_TYPE,
} from '#shared/private-token/issuer-directory.ts';
import { originOfServer } from '#shared/private-token/server-name.ts';
import { truncatedKeyId } from '#shared/private-token/token-key.ts';
import { parseTokenRequest } from '#shared/private-token/token-request.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import type { Recipient } from '#shared/server/endpoints/auth-request.ts';
import { type Endpoint, READ } from '#shared/server/endpoints/endpoint.ts';
import { createServe } from '#shared/server/endpoints/serve.ts';
import { frontDoor, openTarget } from '#shared/server/front-door/front-door.ts';
import type { AnyHandler, AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import { blindRsaVerification } from '../auth/private-token/verification.ts';
import { PLAYGROUND_REALM } from '#shared/config/playground.ts';

/** The name of the issuer, which only the playground can reach. */
export const TOKEN_ISSUER = 'issuer.example';
const REQUEST_PATH = '/private-token/request';
/** Milliseconds for which tokens of a key are valid. Spent tokens are remembered for the same time. */
const LIFE = 600_000;
/** Milliseconds that an exchange may need after it has read the directory. */
const LEFT = 60_000;
/** Octets of the longest token request. */
const LONGEST = 1024;

interface OwnKey extends IssuerKey {
  readonly privateKey: KeyObject;
  readonly until: number;
}

export interface TokenIssuerParts {
  readonly oauth: OAuthSchemes;
  readonly recipient: Recipient;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * An issuer of PrivateTokens (RFC 9578 section 6) for the playground's space only. Its keys exist only in this process,
 * and `handler` answers its requests. Tokens are publicly verifiable, so the resource server does not ask the issuer.
 */
export function playgroundTokenIssuer({ oauth, recipient, clock, log }: TokenIssuerParts): {
  readonly issuer: TrustedIssuer;
  readonly handler: AnyHandler;
} {
  let made: readonly OwnKey[] = [];
  let making: Promise<void> | undefined;
  const live = () => made.filter(({ until }) => clock.now() < until);
  async function make(): Promise<void> {
    const { privateKey, ...key } = await generateBlindRsaKey();
    const signing = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
    made = [{ ...key, privateKey: signing, until: clock.now() + LIFE }, ...live()];
  }
  /** The current keys, the newest first. */
  async function keys(): Promise<readonly OwnKey[]> {
    if (!live().some(({ until }) => clock.now() + LEFT < until)) {
      making ??= make().finally(() => (making = undefined));
      await making;
    }
    return live();
  }

  const space: ProtectionSpace = {
    at: ORIGIN,
    realm: PLAYGROUND_REALM,
    scopes: () => [REQUEST_SCOPE],
    schemes: [
      oauth.bearer({
        realm: PLAYGROUND_REALM,
        audiences: [originOfServer(TOKEN_ISSUER) + REQUEST_PATH],
        scopes: () => [REQUEST_SCOPE],
      }),
    ],
  };
  const endpoints: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
    [
      DIRECTORY_PATH,
      {
        methods: READ,
        async answer() {
          const directory = { requestUrl: REQUEST_PATH, keys: await keys() };
          const fields = { ...UNSTORED, 'Content-Type': DIRECTORY_TYPE };
          return { status: 200, fields, body: formatDirectory(directory) };
        },
      },
    ],
    [
      REQUEST_PATH,
      {
        methods: ['POST'],
        byToken: {
          space,
          origin: originOfServer(TOKEN_ISSUER),
          answer: async (request) => sign(await contentOf(request), await keys()),
        },
      },
    ],
  ]);
  const serve = createServe<AnyRequest, AnyResponse>({
    handled: new Set(['GET', 'HEAD', 'POST', 'OPTIONS']),
    recipient,
    ready: async () => {},
  });
  return {
    issuer: {
      name: TOKEN_ISSUER,
      keys: async (type) => (await keys()).filter((key) => key.type === type),
      key: (type, id) => live().find((key) => key.type === type && key.id.equals(id)),
      verify: blindRsaVerification(),
    },
    handler: frontDoor<AnyRequest, AnyResponse>(
      ({ request, response, target }) =>
        serve(request, response, target, endpoints.get(target.path)),
      { open: openTarget, refuseMisdirected: () => {}, fields: () => ({}), log },
    ),
  };
}

async function contentOf(request: AnyRequest): Promise<Buffer> {
  if (request.headers['content-type'] !== REQUEST_TYPE) {
    throw new HttpError(415, `Send content of the type ${REQUEST_TYPE}.`);
  }
  return wholeContent(request, LONGEST, () => new HttpError(413, 'The token request is too long.'));
}

/** Signs a blinded message, without authentication (RFC 9578 section 6.2). */
function sign(content: Buffer, keys: readonly OwnKey[]) {
  const asked = parseTokenRequest(content);
  const key = keys.find(
    ({ type, id }) => type === asked?.type && truncatedKeyId(id) === asked.truncatedKeyId,
  );
  const body = asked && key && blindSign(key.privateKey, asked.blinded);
  if (body === undefined)
    throw unprocessable('This is not a token request for a key of this issuer.');
  return { status: 200, fields: { ...UNSTORED, 'Content-Type': RESPONSE_TYPE }, body };
}
