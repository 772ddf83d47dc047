import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { decodeBase64, decodeMessage } from './base64.ts';
import { saslprep } from './saslprep.ts';

/** RFC 5802 section 7. */
const NONCE = '[!-+\\--~]+';
const SASLNAME = '(?:[^\\0=,]|=2C|=3D)+';
/** Matches attributes without a meaning, which are ignored; an attribute with a meaning has a fixed place. */
const EXTENSIONS = '(?:,[bdfghjkloqtuwxyzA-Z]=[^\\0,]+)*';

/**
 * Matches a client-first-message with the gs2-header `n,,`. RFC 7804 section 5 supports no channel binding, so `y`
 * and `p=` fail. `a=`, which acts for another person, fails, too. `m=`, a mandatory extension, fails because no such
 * extension is supported.
 */
const CLIENT_FIRST = new RegExp(`^n,,(n=(${SASLNAME}),r=(${NONCE})${EXTENSIONS})$`, 'u');

/** Matches a client-final-message; `biws` is the base64 of the gs2-header. */
const CLIENT_FINAL = new RegExp(`^(c=biws,r=(${NONCE})${EXTENSIONS}),p=([^,]+)$`, 'u');

export interface Username {
  /** The name as it is written in the message, over which proofs are computed. */
  readonly saslname: string;
  /** One form for all spellings of a name, by which the person is found and attempts are counted. */
  readonly account: string;
}

export interface ClientFirst {
  /** client-first-message-bare, as received. */
  readonly bare: string;
  readonly user: Username;
  readonly nonce: string;
}

export interface ClientFinal {
  /** client-final-message-without-proof, as received. */
  readonly withoutProof: string;
  readonly nonce: string;
  readonly proof: Buffer;
}

/**
 * Prepares the name of RFC 5802 section 5.1, `n`, as a query string; returns undefined if nothing is left, or if a
 * character is prohibited.
 */
export function readUsername(saslname: string): Username | undefined {
  const unescaped = saslname.replace(/=2C|=3D/g, (escape) => (escape === '=2C' ? ',' : '='));
  const name = saslprep(unescaped);
  return name === undefined ? undefined : { saslname, account: usernameCaseMapped(name) ?? name };
}

export function parseClientFirst(message: string): ClientFirst | undefined {
  const [, bare = '', saslname = '', nonce = ''] = CLIENT_FIRST.exec(message) ?? [];
  const user = readUsername(saslname);
  return user && { bare, user, nonce };
}

export function parseClientFinal(message: string): ClientFinal | undefined {
  const [, withoutProof = '', nonce = '', encoded = ''] = CLIENT_FINAL.exec(message) ?? [];
  const proof = decodeBase64(encoded);
  return proof === undefined || proof.length === 0 ? undefined : { withoutProof, nonce, proof };
}

/**
 * Reads the message in the credentials of a client, or returns the reason for which it is not one. A client-final-
 * message without `sid` authenticates again (RFC 7804 section 5.1).
 */
export function readMessage({
  data = '',
  sid,
}: AuthParams): { readonly first: ClientFirst } | { readonly final: ClientFinal } | Refusal {
  const message = decodeMessage(data);
  if (message === undefined) return refuse('scram-data');
  const final = parseClientFinal(message);
  if (final !== undefined) return { final };
  if (sid !== undefined) return refuse('scram-final');
  const first = parseClientFirst(message);
  return first === undefined ? refuse('scram-first') : { first };
}

export function formatServerFirst(nonce: string, salt: Buffer, iterations: number): string {
  return `r=${nonce},s=${salt.toString('base64')},i=${iterations}`;
}
