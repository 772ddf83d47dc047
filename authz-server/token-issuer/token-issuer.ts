import { allow } from '#shared/http/methods.ts';
import type { Target } from '#shared/http/target.ts';
import { metadataUrl } from '#shared/auth/protected-resource.ts';
import { tokenIssuerSpaces, type TokenSpace } from '#shared/config/token-spaces.ts';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import { GENERATE } from '#shared/keys/token-key-lifecycle.ts';
import { VOPRF } from '#shared/private-token/token-types.ts';
import type { VoprfThreads } from '#shared/private-token/voprf-threads.ts';
import type { Random } from '#shared/base/random.ts';
import { type Answer, methodNotAllowed, notImplemented } from '#shared/http/answer.ts';
import { errorAnswer } from '#shared/server/answer.ts';
import { noteError } from '#shared/server/front-door.ts';
import {
  type Cors,
  EVERYBODY,
  isPreflight,
  preflight,
  TOKEN_HOLDERS,
} from '#shared/server/cors.ts';
import type { AnyRequest } from '#shared/server/message.ts';
import type { Chore } from '#shared/server/chore.ts';
import type { Parts } from '#shared/server/process.ts';
import { validated } from '#shared/server/validated.ts';
import { blindSigners } from './blind-signers.ts';
import { directory } from './directory.ts';
import { issuance } from './issue.ts';
import { openIssuerKeyRing } from './key-ring.ts';
import { resourceMetadata } from './metadata.ts';
import { payment } from './pay.ts';
import { protection, type ProtectionParts } from './protection.ts';
import { tokenVerification } from './verify.ts';

export interface TokenIssuerParts extends ProtectionParts, Pick<Parts, 'random' | 'log'> {
  readonly voprf: VoprfThreads;
}

/** The issuer of tokens for PrivateToken (RFC 9576 section 3.4.2). */
export interface TokenIssuer {
  /** Undefined for an address that is not the issuer's. */
  answer(request: AnyRequest, target: Target): Promise<Answer<string | Uint8Array>> | undefined;
  readonly chores: readonly Chore[];
}

/** An address of the issuer. */
interface Endpoint {
  readonly method: 'GET' | 'POST';
  /** Absent: no script of another origin. */
  readonly cors?: Cors;
  answer(request: AnyRequest): Answer | Promise<Answer<string | Uint8Array>>;
}

/** What is handled somewhere; any other method is 501 on any path (RFC 9110 section 9.1). */
export const HANDLED: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'POST']);

/**
 * Opens the issuer, with a key of each type. Throws when the master secret is another one than that of the
 * keys in the store.
 */
export async function openTokenIssuer(parts: TokenIssuerParts): Promise<TokenIssuer> {
  const { config, stores, master, clock, log, voprf } = parts;
  const { privateTokens: times, limits: rates, tokens } = config;
  const spaces = tokenIssuerSpaces(config);
  if (times === undefined || spaces === undefined) throw new Error('privateTokens is not set');
  const generate = { ...GENERATE, [VOPRF]: (random: Random) => voprf.generateKey(random) };
  const life = { ...parts, times, generate };
  const ring = await openIssuerKeyRing(life, blindSigners(voprf));
  const protect = protection(parts);
  const pay = payment(stores.limits, master);

  const metadata = (space: TokenSpace): readonly [string, Endpoint] => [
    new URL(metadataUrl(space.url)).pathname,
    {
      method: 'GET',
      cors: EVERYBODY,
      answer: (request) => validated(request, resourceMetadata(space, config.issuer)),
    },
  ];
  const pathOf = ({ url }: TokenSpace) => new URL(url).pathname;
  const endpoints: ReadonlyMap<string, Endpoint> = new Map([
    [
      DIRECTORY_PATH,
      {
        method: 'GET',
        cors: EVERYBODY,
        answer: directory({ ring, requestUrl: spaces.request.url, maxAge: times.maxAge, clock }),
      },
    ],
    [
      pathOf(spaces.request),
      {
        method: 'POST',
        cors: TOKEN_HOLDERS,
        answer: protect(
          spaces.request,
          issuance({ ring, pay, rate: rates.privateTokens, clock, skew: tokens.skew }),
        ),
      },
    ],
    [
      pathOf(spaces.verify),
      {
        method: 'POST',
        answer: protect(
          spaces.verify,
          tokenVerification({ ring, voprf, pay, rate: rates.verifications }),
        ),
      },
    ],
    metadata(spaces.request),
    metadata(spaces.verify),
  ]);

  async function answerOf(endpoint: Endpoint, request: AnyRequest) {
    const { method, cors } = endpoint;
    if (cors && isPreflight(request)) return preflight(cors, request, [method]);
    const answer = await serve(endpoint, request).catch((error: unknown) => {
      noteError(request, error, log);
      return errorAnswer(error);
    });
    return { ...answer, fields: { ...cors?.answers(request.headers.origin), ...answer.fields } };
  }

  return {
    answer(request, target) {
      const endpoint = endpoints.get(target.path);
      return endpoint && answerOf(endpoint, request);
    },
    chores: [{ name: 'token keys', seconds: 1, run: () => ring.keep() }],
  };
}

async function serve(
  { method, answer }: Endpoint,
  request: AnyRequest,
): Promise<Answer<string | Uint8Array>> {
  const { method: given = '' } = request;
  if (!HANDLED.has(given)) throw notImplemented(given);
  const allowed = allow([method]);
  if (given === 'OPTIONS') return { status: 204, fields: { Allow: allowed } };
  const asked = given === 'HEAD' ? 'GET' : given;
  if (asked !== method) throw methodNotAllowed(allowed);
  return answer(request);
}
