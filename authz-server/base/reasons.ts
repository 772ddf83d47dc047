/** Why the engine refuses a request: for the log, and in development for the developer of the client. */
import type { KoaContextWithOIDC } from 'oidc-provider';
import { isDocumentUrl } from '#shared/client-documents/document-url.ts';
import { whyNotTaken } from '#shared/client-documents/reach.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { isObject, type JsonObject } from '#shared/jose/compact-jws.ts';
import type { Config } from '#shared/config/schema.ts';
import type { AuthzServer } from './server.ts';

export type RefusingServer = Pick<AuthzServer, 'config' | 'clock'>;

/** An error of the engine. `error_detail` is what it keeps from the client. */
export type EngineRefusal = Error & {
  readonly error_detail?: string | undefined;
  readonly error_description?: string | undefined;
};

type Sentences = Readonly<Record<string, string>>;

const SENTENCES_OF_PROOFS: Sentences = {
  'missing DPoP proof JWT': 'The field DPoP is missing: the authorization request had dpop_jkt.',
  'DPoP proof key thumbprint does not match dpop_jkt':
    'The key of the DPoP proof is not the dpop_jkt of the authorization request.',
  'failed jkt verification':
    'The refresh token is bound to a key: send a DPoP proof that is signed with it.',
};

const GRANT_ENDED =
  'The grant has ended: the person or the operator ended it, or something of it was used twice.';

/**
 * The sentences for developers, in development only, by grant type and the engine's detail. A detail that is not here is
 * told to nobody. So nobody learns whether a client, a person or a device code exists.
 */
const SENTENCES: Readonly<Record<string, Sentences>> = {
  authorization_code: {
    ...SENTENCES_OF_PROOFS,
    'authorization code not found':
      'The code is unknown: it was changed on its way, has expired long ago, or its grant has ended.',
    'authorization code is expired': 'The code has expired. Ask for another at /auth.',
    'authorization code already consumed':
      'The code was used before. A code is good once, so its grant has ended.',
    'already used': 'The code was used before. A code is good once, so its grant has ended.',
    'client mismatch': 'The code was issued to another client.',
    'authorization code redirect_uri mismatch':
      'redirect_uri is not the one of the authorization request.',
    'code_verifier must be provided':
      'code_verifier is missing: the authorization request had a code_challenge.',
    'code_verifier does not match code_challenge':
      'code_verifier does not fit the code_challenge of the authorization request (S256).',
    'grant not found': GRANT_ENDED,
    'grant is expired': GRANT_ENDED,
  },
  refresh_token: {
    ...SENTENCES_OF_PROOFS,
    'refresh token not found':
      'The refresh token is unknown: it was changed on its way, has expired long ago, or its grant has ended.',
    'refresh token is expired': 'The refresh token has expired. The person has to sign in again.',
    'refresh token already used':
      'The refresh token was used before: a newer one has replaced it. Its grant has ended.',
    'already used':
      'The refresh token was used before: a newer one has replaced it. Its grant has ended.',
    'client mismatch': 'The refresh token was issued to another client.',
    'grant not found': GRANT_ENDED,
    'grant is expired': GRANT_ENDED,
  },
};

/** The detail of an error for a client assertion whose iat has yet to come. */
export const OF_THE_FUTURE = 'jwt issued in the future';

/** The claim of a client assertion that is judged by the clock (RFC 7523 section 3), by the detail of its error. */
const TIMES: Readonly<Record<string, string>> = {
  'jwt expired': 'exp',
  'jwt not active yet': 'nbf',
  [OF_THE_FUTURE]: 'iat',
};

const BAD_PROOF = 'invalid DPoP key binding';

const UNREGISTERED = "redirect_uri did not match any of the client's registered redirect_uris";
const NO_CLIENT = 'client not found';

/** Characters of what the client sent. */
const QUOTED = 200;

/** The reason for the log: the code, what stands behind it, and what was sent where that was unknown. */
export function reasonOf(
  ctx: KoaContextWithOIDC,
  error: EngineRefusal,
  { config, clock }: RefusingServer,
): string {
  const { message, error_detail: detail, error_description: description } = error;
  const sent = detail === NO_CLIENT ? clientId(ctx) : unregistered(ctx, error);
  const why = ofDocument(ctx, error, config);
  const said = ofTime(ctx, error, clock) ?? detail ?? description;
  return [message, said, sent && shownUri(sent), why].filter(Boolean).join(': ');
}

/**
 * Returns the specific description of an error (RFC 6749 section 5.2), for development only. Returns undefined if there
 * is none, or if it would tell what must stay unknown.
 */
export function descriptionOf(
  ctx: KoaContextWithOIDC,
  error: EngineRefusal,
  { config, clock }: RefusingServer,
): string | undefined {
  const { error_detail: detail = '', error_description: description = '' } = error;
  if (description === BAD_PROOF) return described(`${description}: ${detail}`);
  const sent = unregistered(ctx, error);
  if (sent !== undefined) return described(`${description}; the request has: ${sent}`);
  const why = ofTime(ctx, error, clock) ?? ofDocument(ctx, error, config);
  if (why !== undefined) return described(`${description}: ${why}`);
  const grantType = ctx.oidc?.route === 'token' ? ctx.oidc.params?.['grant_type'] : undefined;
  return SENTENCES[String(grantType)]?.[detail];
}

/** How far the client assertion, whose signature is good, is from the time of this server. */
function ofTime(
  ctx: KoaContextWithOIDC,
  { message, error_detail: detail = '' }: EngineRefusal,
  clock: RefusingServer['clock'],
): string | undefined {
  const claim = message === 'invalid_client' ? TIMES[detail] : undefined;
  const time = claim && claimsOfAssertion(ctx)?.[claim];
  if (typeof time !== 'number') return undefined;
  const ahead = Math.round(time - epochSeconds(clock));
  const where = ahead > 0 ? 'in the future' : 'in the past';
  return `the assertion's ${claim} is ${Math.abs(ahead)} s ${where}: compare the clocks of client and server`;
}

/** Why the configuration keeps the client out that the request names by its document. */
function ofDocument(
  ctx: KoaContextWithOIDC,
  { error_detail: detail }: EngineRefusal,
  config: Config,
): string | undefined {
  const id = detail === NO_CLIENT ? clientId(ctx) : undefined;
  return id !== undefined && isDocumentUrl(id) ? whyNotTaken(config, id) : undefined;
}

/** The redirect URI of the request, if the error is that it is not registered. */
function unregistered(
  { oidc }: KoaContextWithOIDC,
  { error_description: description }: EngineRefusal,
): string | undefined {
  const uri = description === UNREGISTERED ? oidc?.params?.['redirect_uri'] : undefined;
  return typeof uri === 'string' ? uri : undefined;
}

/** The client that the request names, in one of the three places for it (RFC 6749 section 2.3, RFC 7523 section 2.2). */
function clientId(ctx: KoaContextWithOIDC): string | undefined {
  const id = ctx.oidc?.params?.['client_id'];
  if (typeof id === 'string') return id;
  const [, basic] = /^basic +(\S+)$/i.exec(ctx.headers.authorization ?? '') ?? [];
  if (basic !== undefined) return Buffer.from(basic, 'base64').toString().split(':', 1)[0];
  const sub = claimsOfAssertion(ctx)?.['sub'];
  return typeof sub === 'string' ? sub : undefined;
}

function claimsOfAssertion({ oidc }: KoaContextWithOIDC): JsonObject | undefined {
  const assertion = oidc?.params?.['client_assertion'];
  if (typeof assertion !== 'string') return undefined;
  try {
    const text = Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString();
    const claims: unknown = JSON.parse(text);
    return isObject(claims) ? claims : undefined;
  } catch {
    return undefined;
  }
}

/** Text of a request for the log, cut off. A URI is without what may be secret in it: user, query and fragment. */
export const shownUri = (uri: string): string =>
  uri
    .replace(/\/\/[^/?#]*@/, '//')
    .replace(/[?#].*$/s, '')
    .slice(0, QUOTED);

/** The characters of RFC 6749 appendix A.8. */
const described = (text: string) =>
  text
    .slice(0, 2 * QUOTED)
    .replaceAll('"', "'")
    .replaceAll(/[^ -[\]-~]/g, '?');
