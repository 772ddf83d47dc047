import type { Recorder } from '#shared/audit/recorder.ts';
import { tokenIssuerSpaces, type TokenSpace } from '#shared/config/token-spaces.ts';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import { GENERATE } from '#shared/keys/token-key-lifecycle.ts';
import type { VoprfThreads } from '#shared/private-token/voprf-threads.ts';
import { EVERYBODY, TOKEN_HOLDERS } from '#shared/server/endpoints/cors.ts';
import { type Endpoint, READ } from '#shared/server/endpoints/endpoint.ts';
import type { Chore } from '#shared/server/chore.ts';
import type { Parts } from '#shared/server/process.ts';
import { note } from '#shared/server/message/request-log.ts';
import { protection, type ProtectionParts, type Work } from '../resources/protection.ts';
import { metadataEndpoint } from '../resources/resource-metadata.ts';
import { blindSigners } from './blind-signers.ts';
import { directory } from './directory.ts';
import { issuance } from './issue.ts';
import { openIssuerKeyRing } from './key-ring.ts';
import { payment } from './pay.ts';
import { tokenVerification } from './verify.ts';

export interface TokenIssuerParts extends ProtectionParts, Pick<Parts, 'random' | 'log'> {
  readonly voprf: VoprfThreads;
  readonly recorder?: Recorder;
}

/** The issuer of tokens for PrivateToken (RFC 9576 section 3.4.2). */
export interface TokenIssuer {
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly chores: readonly Chore[];
}

/** Opens the issuer with a key of each type. Throws if the keys in the store have another master secret. */
export async function openTokenIssuer(parts: TokenIssuerParts): Promise<TokenIssuer> {
  const { config, stores, master, clock, voprf } = parts;
  const { privateTokens: times, limits: rates, tokens } = config;
  const spaces = tokenIssuerSpaces(config);
  if (times === undefined || spaces === undefined) throw new Error('privateTokens is not set');
  const life = { ...parts, times, generate: GENERATE };
  const ring = await openIssuerKeyRing(life, blindSigners(voprf));
  const protect = protection(parts);
  const pay = payment(stores.limits, master);

  const pathOf = ({ url }: TokenSpace) => new URL(url).pathname;
  const endpoints: ReadonlyMap<string, Endpoint> = new Map([
    [
      DIRECTORY_PATH,
      {
        methods: READ,
        program: true,
        cors: EVERYBODY,
        answer: directory({ ring, requestUrl: spaces.request.url, maxAge: times.maxAge, clock }),
      },
    ],
    [
      pathOf(spaces.request),
      {
        methods: ['POST'],
        program: true,
        cors: TOKEN_HOLDERS,
        byToken: protect(
          spaces.request,
          nameless(issuance({ ring, pay, rate: rates.privateTokens, clock, skew: tokens.skew })),
        ),
      },
    ],
    [
      pathOf(spaces.verify),
      {
        methods: ['POST'],
        program: true,
        byToken: protect(
          spaces.verify,
          nameless(tokenVerification({ ring, voprf, pay, rate: rates.verifications })),
        ),
      },
    ],
    metadataEndpoint(spaces.request, config.issuer),
    metadataEndpoint(spaces.verify, config.issuer),
  ]);

  return {
    endpoints,
    chores: [{ name: 'token keys', seconds: 1, run: () => ring.keep() }],
  };
}

/** Wraps a handler so that its log line does not name the person who gets tokens (RFC 9576 section 5). */
const nameless =
  (work: Work): Work =>
  (request, requester) => {
    note(request, { subject: undefined });
    return work(request, requester);
  };
