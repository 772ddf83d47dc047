import { z } from 'zod';
import { isVisibleName } from '#shared/people/names/visible-name.ts';

/** The description of a client that nobody registered, as its document gives it. */
export interface ClientDocument {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly native: boolean;
  readonly method: 'none' | 'private_key_jwt';
  readonly refreshes: boolean;
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] };
  /** Where the keys are, if the document does not have them; at its own origin. */
  readonly jwksUri?: string;
}

/** A document, or its keys, that cannot be used; `message` says what is wrong with it. */
export class BadDocument extends Error {
  override readonly name = 'BadDocument';
}

/** Kty values of public keys; a symmetric one would be a shared secret (draft section 4.1). */
const KTY = z.enum(['EC', 'RSA', 'OKP']);
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

const key = z
  .looseObject({ kty: KTY })
  .refine((jwk) => PRIVATE.every((member) => !(member in jwk)), 'must hold no private key');

const jwks = z.object({ keys: z.array(key).min(1).max(8) });

const document = z
  .object({
    client_id: z.string(),
    client_name: z.string().refine(isVisibleName, 'must have 1 to 100 visible characters'),
    redirect_uris: z
      .array(
        z.string().max(512).refine(isRedirectUri, 'must be https, loopback or of a private scheme'),
      )
      .min(1)
      .max(20),
    token_endpoint_auth_method: z.enum(['none', 'private_key_jwt']).default('none'),
    grant_types: z.array(z.string()).default(['authorization_code']),
    response_types: z.array(z.string()).default(['code']),
    jwks: jwks.optional(),
    jwks_uri: z.string().optional(),
    client_secret: z.never().optional(),
    client_secret_expires_at: z.never().optional(),
  })
  .refine(({ grant_types }) => grant_types.includes('authorization_code'), {
    path: ['grant_types'],
    error: 'must have authorization_code',
  })
  .refine(({ response_types }) => response_types.includes('code'), {
    path: ['response_types'],
    error: 'must have code',
  });

/**
 * Reads a document that was found at `url` (draft section 4.1). Members that are not understood are left out, as are
 * grants that nobody may have who is not registered. Throws `BadDocument`.
 */
export function readDocument(url: string, content: unknown): ClientDocument {
  const { error, data } = document.safeParse(content);
  if (error) throw new BadDocument(mistakeOf(error));
  // Simple string comparison (RFC 3986 section 6.2.1).
  if (data.client_id !== url) throw new BadDocument('client_id is not the address of the document');
  const byKey = data.token_endpoint_auth_method === 'private_key_jwt';
  if (byKey === (data.jwks === undefined && data.jwks_uri === undefined)) {
    throw new BadDocument(byKey ? 'jwks is missing' : 'jwks has no use without private_key_jwt');
  }
  return {
    name: data.client_name,
    redirectUris: data.redirect_uris,
    native: data.redirect_uris.some((uri) => !isOfWeb(uri)),
    method: data.token_endpoint_auth_method,
    refreshes: data.grant_types.includes('refresh_token'),
    ...(byKey && (data.jwks ? { jwks: data.jwks } : { jwksUri: ownKeys(url, data.jwks_uri) })),
  };
}

/** Reads a key set that a document names. Throws `BadDocument`. */
export function readKeys(content: unknown): NonNullable<ClientDocument['jwks']> {
  const { error, data } = jwks.safeParse(content);
  if (error) throw new BadDocument(`jwks_uri: ${mistakeOf(error)}`);
  return data;
}

/** Nobody is made to fetch from elsewhere what one site says. */
function ownKeys(url: string, address = ''): string {
  if (URL.parse(address)?.origin !== new URL(url).origin) {
    throw new BadDocument('jwks_uri is not at the origin of the document');
  }
  return address;
}

function mistakeOf({ issues: [issue] }: z.ZodError): string {
  const path = issue?.path.join('.') ?? '';
  return `${path || 'it'} ${issue?.code === 'custom' ? issue.message : 'is not as it must be'}`;
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** `https` anywhere, `http` at loopback, and schemes with a dot (RFC 8252 sections 7.1 to 7.3); no fragment. */
function isRedirectUri(uri: string): boolean {
  const url = URL.parse(uri);
  if (url === null || uri.includes('#') || url.username || url.password) return false;
  if (url.protocol === 'https:') return true;
  if (url.protocol === 'http:') return LOOPBACK.has(url.hostname);
  return url.protocol.includes('.');
}

/** Whether only a site on the web can receive it: not a program on the person's machine. */
function isOfWeb(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol === 'https:' && !LOOPBACK.has(hostname);
}
