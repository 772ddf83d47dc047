import { errors } from 'jose';
import { BadDocument, NoDocument } from '#shared/client-documents/document.ts';
import { MissingChallenge } from './errors.ts';

/** An error of the engine. The client does not get `error_detail`. */
export type EngineRefusal = Error & {
  /** The error code of OAuth. */
  readonly error?: string;
  readonly error_detail?: string | undefined;
  readonly error_description?: string | undefined;
};

/** The detail of an error for a client assertion whose `iat` lies in the future. */
export const OF_THE_FUTURE = 'jwt issued in the future';

/**
 * The causes of the engine's errors by error code and message, since the engine has one class for several causes. THE
 * rule: other files read the cause, and no other file reads the messages.
 */
export const CAUSES = {
  invalid_client: {
    'client not found': 'no-client',
    'jwt expired': 'assertion-exp',
    'jwt not active yet': 'assertion-nbf',
    [OF_THE_FUTURE]: 'assertion-iat',
    'audience (aud) must equal the endpoint url, issuer identifier or token endpoint url':
      'assertion-aud',
    'client assertion tokens must only be used once': 'assertion-used',
  },
  invalid_grant: {
    'missing DPoP proof JWT': 'proof-missing',
    'DPoP proof key thumbprint does not match dpop_jkt': 'proof-key',
    'failed jkt verification': 'token-bound',
    'authorization code not found': 'unknown',
    'authorization code is expired': 'expired',
    'authorization code already consumed': 'used',
    'authorization code redirect_uri mismatch': 'redirect-uri',
    'device code not found': 'unknown',
    'device code already consumed': 'used',
    'refresh token not found': 'unknown',
    'refresh token is expired': 'expired',
    'refresh token already used': 'used',
    // The message comes from `single-use.ts`.
    'already used': 'used',
    'client mismatch': 'other-client',
    'code_verifier must be provided': 'verifier-missing',
    'code_verifier does not match code_challenge': 'verifier',
    'grant not found': 'grant-ended',
    'grant is expired': 'grant-ended',
  },
  invalid_request: {
    // Only for a pushed request; elsewhere the error has a class of its own.
    "redirect_uri did not match any of the client's registered redirect_uris": 'unregistered-uri',
    'request entity too large': 'too-long',
    'no client authentication mechanism provided': 'not-authenticated',
    'requested grant type is not allowed for this client': 'not-granted',
    'urn:ietf:params:oauth:grant-type:device_code is not allowed for this client': 'not-granted',
  },
} as const;

type ByWords = (typeof CAUSES)[keyof typeof CAUSES];
type Values<Each> = Each extends unknown ? Each[keyof Each] : never;

/** The cause of a refusal of the engine. */
export type Cause = Values<ByWords> | OfClass | 'other';

/** The causes by the class of an error, whatever its message. */
type OfClass = 'assertion-key' | 'bad-proof' | 'no-challenge' | 'bad-document' | 'no-document';

/** The errors for a client assertion that no key of the client has signed. */
const { JWSSignatureVerificationFailed, JWKSNoMatchingKey } = errors;
const NOT_SIGNED = [JWSSignatureVerificationFailed, JWKSNoMatchingKey];

/** Returns the cause of an error of the engine; `other` if no code depends on the cause. */
export function causeOf(refusal: EngineRefusal): Cause {
  const { message, error_detail, error_description, cause } = refusal;
  const isUnsigned = NOT_SIGNED.some((Class) => cause instanceof Class);
  if (isUnsigned && message === 'invalid_client') return 'assertion-key';
  if (cause instanceof NoDocument) return 'no-document';
  if (cause instanceof BadDocument) return 'bad-document';
  if (refusal instanceof MissingChallenge) return 'no-challenge';
  if (message === 'invalid_redirect_uri') return 'unregistered-uri';
  if (message === 'invalid_dpop_proof') return 'bad-proof';
  const causes: Readonly<Record<string, Readonly<Record<string, Cause>>>> = CAUSES;
  return causes[message]?.[error_detail ?? error_description ?? ''] ?? 'other';
}
