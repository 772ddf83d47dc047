import { createPublicKey } from 'node:crypto';
import * as z from 'zod';
import { isOfMachine } from '#shared/http/loopback.js';
import { ALGORITHMS } from '#shared/jose/algorithms.ts';
import { redirectUriMistake } from './redirect-uri.ts';
import { fault, faultOf, inWords } from '#shared/refusals/fault.ts';
import { Refused, said } from '#shared/refusals/operations.ts';
import { about, type Words } from '#shared/refusals/words.ts';
import { isVisibleName } from '#shared/people/names/visible-name.ts';

/** The description of an unregistered client, from its document. */
export interface ClientDocument {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly native: boolean;
  readonly method: 'none' | 'private_key_jwt';
  readonly refreshes: boolean;
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] };
  /** The page where people begin (`client_uri`), if it is at the document's own origin. */
  readonly startUrl?: string;
  /** The URL of the keys, if the document does not contain them; at its own origin. */
  readonly jwksUri?: string;
  /** The URL that receives logout tokens; at the document's own origin. */
  readonly logoutUrl?: string;
}

/** Thrown if a document, or its keys, cannot be used; the words say what is wrong. */
export class BadDocument extends Refused {
  override readonly name = 'BadDocument';
}

/** Thrown if no answer could be a document; the words are only for the log. */
export class NoDocument extends BadDocument {}

/** Values of kty for public keys; a symmetric key would be a shared secret (draft section 4.1). */
const KTY = z.enum(['EC', 'RSA', 'OKP']);
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

const key = z
  .looseObject({ kty: KTY })
  .refine((jwk) => PRIVATE.every((member) => !(member in jwk)), fault(said('private-key')))
  .refine(isKey, fault(said('document-key')));

const jwks = z.object({ keys: z.array(key).min(1).max(8) });

const secret = z.never(fault(said('document-secret')));

const document = z
  .object({
    client_id: z.string(),
    client_name: z.string().refine(isVisibleName, fault(said('visible-name'))),
    redirect_uris: z.array(z.string().max(512)).min(1).max(20),
    token_endpoint_auth_method: z.enum(['none', 'private_key_jwt']).default('none'),
    grant_types: z.array(z.string()).default(['authorization_code']),
    response_types: z.array(z.string()).default(['code']),
    jwks: jwks.optional(),
    jwks_uri: z.string().optional(),
    client_uri: z.unknown().optional(),
    backchannel_logout_uri: z.unknown().optional(),
    client_secret: secret.optional(),
    client_secret_expires_at: secret.optional(),
  })
  .refine(({ grant_types }) => grant_types.includes('authorization_code'), {
    path: ['grant_types'],
    ...fault(said('document-value', { value: 'authorization_code' })),
  })
  .refine(({ response_types }) => response_types.includes('code'), {
    path: ['response_types'],
    ...fault(said('document-value', { value: 'code' })),
  });

/**
 * Reads a document from `url` (draft section 4.1). Unknown members are left out, and so are grants that only
 * registered clients may have. Throws `BadDocument`.
 */
export function readDocument(url: string, content: unknown): ClientDocument {
  const { error, data } = document.safeParse(content, { error: inWords });
  if (error) throw new BadDocument(mistakeOf(error));
  // The comparison is a simple string comparison (RFC 3986 section 6.2.1).
  if (data.client_id !== url) throw new BadDocument(said('document-address'));
  const byKey = data.token_endpoint_auth_method === 'private_key_jwt';
  if (byKey === (data.jwks === undefined && data.jwks_uri === undefined)) {
    throw new BadDocument(said(byKey ? 'document-no-keys' : 'document-idle-keys'));
  }
  const native = data.redirect_uris.some((uri) => !isOfWeb(uri));
  checkRedirectUris(data.redirect_uris, native);
  return {
    name: data.client_name,
    redirectUris: data.redirect_uris,
    native,
    method: data.token_endpoint_auth_method,
    refreshes: data.grant_types.includes('refresh_token'),
    ...optional('startUrl', ownUrl(url, data.client_uri)),
    ...optional('logoutUrl', ownUrl(url, data.backchannel_logout_uri)),
    ...(byKey && (data.jwks ? { jwks: data.jwks } : { jwksUri: ownKeys(url, data.jwks_uri) })),
  };
}

/** Reads a key set that a document names. Throws `BadDocument`. */
export function readKeys(content: unknown): NonNullable<ClientDocument['jwks']> {
  const { error, data } = jwks.safeParse(content, { error: inWords });
  if (error) throw new BadDocument(mistakeOf(error, 'jwks_uri'));
  return data;
}

/** Returns the URL of the keys. Throws `BadDocument` if it is elsewhere. */
function ownKeys(url: string, address: unknown): string {
  const own = ownUrl(url, address);
  if (own === undefined) throw new BadDocument(said('document-keys-elsewhere'));
  return own;
}

/**
 * Returns a URL of the document at the document's own origin, so that no document leads people, or requests of this
 * server, to another's site. The page (`client_uri`) and the logout URL are ignored elsewhere: many clients name them,
 * and work without them.
 */
function ownUrl(url: string, address: unknown): string | undefined {
  const found = typeof address === 'string' && address.length <= 2048 ? URL.parse(address) : null;
  const isOwn = found?.origin === new URL(url).origin && found.username + found.password === '';
  return isOwn ? found.href : undefined;
}

const optional = <Name extends string>(name: Name, value: string | undefined) =>
  (value === undefined ? {} : { [name]: value }) as Partial<Record<Name, string>>;

/** Returns the words about the first mistake that a schema found; `where`: the member that names the content. */
function mistakeOf({ issues: [issue] }: z.ZodError, where?: string): Words {
  if (issue === undefined) throw new Error('a schema refuses, and finds no mistake');
  const path = issue.path.join('.');
  const subject = [where, path].filter(Boolean).join(': ');
  return subject === '' ? said('document-object') : about(subject, faultOf(issue));
}

/** Throws `BadDocument` for a redirect URI that could not be registered either. */
function checkRedirectUris(uris: readonly string[], native: boolean): void {
  for (const [index, uri] of uris.entries()) {
    const { protocol, hostname } = URL.parse(uri) ?? {};
    const mistake =
      protocol === 'https:' && isOfMachine(hostname)
        ? said('document-loopback')
        : redirectUriMistake(uri, native);
    if (mistake !== undefined) throw new BadDocument(about(`redirect_uris.${index}`, mistake));
  }
}

/** Returns whether only a web site can receive the redirect, not a program on the person's machine. */
function isOfWeb(uri: string): boolean {
  const url = URL.parse(uri);
  return url?.protocol === 'https:' && !isOfMachine(url.hostname);
}

/**
 * Limits the size of a key: a stranger chooses the key by which this server verifies assertions, and a larger key
 * would cost too much work.
 */
function isKey(jwk: Readonly<Record<string, unknown>>): boolean {
  try {
    const read = createPublicKey({ key: jwk, format: 'jwk' });
    return read.asymmetricKeyType !== 'rsa' || ALGORITHMS.get('RS256')?.fits(read) === true;
  } catch {
    return false;
  }
}
