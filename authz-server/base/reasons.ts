/** Writes why the engine refuses a request: for the log, and in development for the developer of the client. */
import type { KoaContextWithOIDC } from 'oidc-provider';
import { isDocumentUrl } from '#shared/client-documents/document-url.ts';
import { whyNotTaken } from '#shared/client-documents/reach.ts';
import { epochSeconds } from '#shared/base/clock.ts';
import { isObject, type JsonObject } from '#shared/jose/compact-jws.ts';
import type { Config } from '#shared/config/schema.ts';
import { type Cause, causeOf, type EngineRefusal } from './engine-causes.ts';
import { withRemedy } from './remedies.ts';
import type { AuthzServer } from './server.ts';

export type RefusingServer = Pick<AuthzServer, 'config' | 'clock'>;

type Sentences = Readonly<Partial<Record<Cause, string>>>;

const SENTENCES_OF_PROOFS: Sentences = {
  'proof-missing':
    'The field DPoP is missing: the authorization request had dpop_jkt. Send a DPoP proof.',
  'proof-key':
    'The key of the DPoP proof is not the dpop_jkt of the authorization request. Use the key of dpop_jkt.',
  'token-bound': 'The refresh token is bound to a key: send a DPoP proof that is signed with it.',
};

const GRANT_ENDED =
  'The grant has ended: the person or the operator ended it, or something of it was used twice. Begin again at /auth.';

/**
 * The sentences for developers, in development only, by grant type and cause. For any other cause the server sends no
 * sentence, so a client does not learn whether a client, a person or a device code exists.
 */
export const SENTENCES: Readonly<Record<string, Sentences>> = {
  authorization_code: {
    ...SENTENCES_OF_PROOFS,
    unknown:
      'The code is unknown: it was changed on its way, has expired long ago, or its grant has ended. Begin again at /auth.',
    expired: 'The code has expired. Ask for another at /auth.',
    used: 'The code was used before, so its grant has ended. Send each code once, and begin again at /auth.',
    'other-client':
      'The code was issued to another client. Send the client_id of the authorization request.',
    'redirect-uri':
      'redirect_uri is not the one of the authorization request. Send the same redirect_uri.',
    'verifier-missing':
      'code_verifier is missing: the authorization request had a code_challenge. Send its code_verifier.',
    verifier:
      'code_verifier does not fit the code_challenge of the authorization request (S256). Keep the code_verifier until the code arrives.',
    'grant-ended': GRANT_ENDED,
  },
  refresh_token: {
    ...SENTENCES_OF_PROOFS,
    unknown:
      'The refresh token is unknown: it was changed on its way, has expired long ago, or its grant has ended. Begin again at /auth.',
    expired: 'The refresh token has expired. Begin again at /auth: the person has to sign in.',
    used: 'The refresh token was used before: a newer one has replaced it. Its grant has ended. Keep each new token, and begin again at /auth.',
    'other-client':
      'The refresh token was issued to another client. Use the client that got the token.',
    'grant-ended': GRANT_ENDED,
  },
};

/** The time claim of a client assertion that a cause is about (RFC 7523 section 3). */
const TIMES: Readonly<Partial<Record<Cause, string>>> = {
  'assertion-exp': 'exp',
  'assertion-nbf': 'nbf',
  'assertion-iat': 'iat',
};

/** The most characters of a client's input that a reason quotes. */
const QUOTED = 200;

/** Returns the reason for the log: the error code, its cause, and the client's input if that was unknown. */
export function reasonOf(
  ctx: KoaContextWithOIDC,
  error: EngineRefusal,
  { config, clock }: RefusingServer,
): string {
  const { message, error_detail: detail, error_description: description } = error;
  const sent = causeOf(error) === 'no-client' ? clientId(ctx) : unregistered(ctx, error);
  const why = ofDocument(ctx, error, config);
  const said = ofTime(ctx, error, clock) ?? detail ?? description;
  return [message, said, sent && shownUri(sent), why].filter(Boolean).join(': ');
}

/**
 * Returns the specific description of an error (RFC 6749 section 5.2), for development only. Returns undefined if there
 * is none, or if the description would reveal what must stay unknown.
 */
export function descriptionOf(
  ctx: KoaContextWithOIDC,
  error: EngineRefusal,
  { config, clock }: RefusingServer,
): string | undefined {
  const { error_detail: detail, error_description: description = '' } = error;
  const cause = causeOf(error);
  if (cause === 'bad-proof' && detail) return described(`${withRemedy(description)} (${detail})`);
  const sent = unregistered(ctx, error);
  if (sent !== undefined) return described(`${withRemedy(description)}; the request has: ${sent}`);
  const why = ofTime(ctx, error, clock) ?? ofDocument(ctx, error, config);
  if (why !== undefined) return described(`${description}: ${why}`);
  const grantType = ctx.oidc?.route === 'token' ? ctx.oidc.params?.['grant_type'] : undefined;
  return SENTENCES[String(grantType)]?.[cause];
}

/** Says how far the time of a client assertion, whose signature is valid, is from the time of this server. */
function ofTime(
  ctx: KoaContextWithOIDC,
  error: EngineRefusal,
  clock: RefusingServer['clock'],
): string | undefined {
  const claim = TIMES[causeOf(error)];
  const time = claim && claimsOfAssertion(ctx)?.[claim];
  if (typeof time !== 'number') return undefined;
  const ahead = Math.round(time - epochSeconds(clock));
  const where = ahead > 0 ? 'in the future' : 'in the past';
  return `the assertion's ${claim} is ${Math.abs(ahead)} s ${where}: compare the clocks of client and server`;
}

/** Says why the configuration does not admit the client, which the request names by its metadata document. */
function ofDocument(
  ctx: KoaContextWithOIDC,
  error: EngineRefusal,
  config: Config,
): string | undefined {
  const id = causeOf(error) === 'no-client' ? clientId(ctx) : undefined;
  return id !== undefined && isDocumentUrl(id) ? whyNotTaken(config, id) : undefined;
}

/** Returns the redirect URI of the request if the error is that it is not registered. */
function unregistered({ oidc }: KoaContextWithOIDC, error: EngineRefusal): string | undefined {
  const uri = causeOf(error) === 'unregistered-uri' ? oidc?.params?.['redirect_uri'] : undefined;
  return typeof uri === 'string' ? uri : undefined;
}

/** Returns the client that the request names, in one of three places (RFC 6749 section 2.3, RFC 7523 section 2.2). */
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

/** Returns a shortened URI of a request for the log, without the parts that may be secret: user, query and fragment. */
export const shownUri = (uri: string): string =>
  uri
    .replace(/\/\/[^/?#]*@/, '//')
    .replace(/[?#].*$/s, '')
    .slice(0, QUOTED);

/** Keeps the characters that an error description may have (RFC 6749 appendix A.8). */
const described = (text: string) =>
  text
    .slice(0, 2 * QUOTED)
    .replaceAll('"', "'")
    .replaceAll(/[^ -[\]-~]/g, '?');
