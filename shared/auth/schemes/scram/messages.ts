import { usernameCaseMapped } from '#shared/people/names/precis.ts';
import { decodeBase64 } from './base64.ts';
import { saslprep } from './saslprep.ts';

/** RFC 5802 section 7. */
const NONCE = '[!-+\\--~]+';
const SASLNAME = '(?:[^\\0=,]|=2C|=3D)+';
/** Attributes that mean nothing yet and are ignored; one that has a meaning has its place. */
const EXTENSIONS = '(?:,[bdfghjkloqtuwxyzA-Z]=[^\\0,]+)*';

/**
 * The gs2-header is `n,,`: RFC 7804 section 5 knows no channel binding, so `y` and `p=` fail, and nobody
 * acts for somebody else (`a=`). `m=`, a mandatory extension, fails because there is none we know.
 */
const CLIENT_FIRST = new RegExp(`^n,,(n=(${SASLNAME}),r=(${NONCE})${EXTENSIONS})$`, 'u');

/** `biws` is the base64 of the gs2-header. */
const CLIENT_FINAL = new RegExp(`^(c=biws,r=(${NONCE})${EXTENSIONS}),p=([^,]+)$`, 'u');

export interface Username {
  /** As it stands in the message, which is what proofs are computed from. */
  readonly saslname: string;
  /** One for all forms of a name: what a person is found and attempts are counted by. */
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

/** RFC 5802 section 5.1, `n`: prepared as a query string; undefined when nothing is left or allowed. */
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

export function formatServerFirst(nonce: string, salt: Buffer, iterations: number): string {
  return `r=${nonce},s=${salt.toString('base64')},i=${iterations}`;
}
