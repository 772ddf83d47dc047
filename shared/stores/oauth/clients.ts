import type { NameRange } from '#shared/base/name-range.ts';

/** `from`, when there was another, until before `until`: milliseconds since the epoch. */
export interface FormerSecret {
  readonly hash: string;
  readonly from: number;
  readonly until: number;
}

export type RegisteredKey =
  | { readonly proof: unknown; readonly jwk: Readonly<Record<string, unknown>> }
  | { readonly proof: 'mtls'; readonly 'cert#S256': string };

export interface GnapRegistration {
  /** The public key, and how the client proves that it has the private one (RFC 9635 section 7.1). */
  readonly key: RegisteredKey;
  /** It may have tokens that are bound to no key (section 2.1.1, flag `bearer`). */
  readonly bearer?: boolean;
  /** No operator registered it: a person has allowed what it asked for. */
  readonly unknown?: boolean;
}

/** A registered OAuth client; the members are those of RFC 7591 section 2, plus ours. */
export interface ClientRecord {
  readonly client_id: string;
  readonly client_name: string;
  /** The address of a picture that its sign-in and consent pages show (RFC 7591 section 2). */
  readonly logo_uri?: string;
  readonly grant_types: readonly string[];
  readonly token_endpoint_auth_method:
    | 'client_secret_basic'
    | 'client_secret_post'
    | 'private_key_jwt'
    | 'none';
  /** base64url(SHA-256(secret)); the secret itself is shown once and never stored. */
  readonly secret_hash?: string;
  /** The secret before, which is good beside it for a while. */
  readonly former_secret?: FormerSecret;
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] };
  /** All scopes it may ever ask for, space separated. */
  readonly scope: string;
  /** The scopes that it gets if it asks for none; absent: all of `scope`. */
  readonly default_scope?: string;
  /** RFC 8707 resources it may name; absent: every configured one. */
  readonly resources?: readonly string[];
  /** Where the authorization code may go: compared exactly; of a native client the loopback port is free. */
  readonly redirect_uris?: readonly string[];
  /** Where the browser may go after sign-out (OpenID Connect RP-Initiated Logout 1.0 section 3). */
  readonly post_logout_redirect_uris?: readonly string[];
  /** OpenID Connect Registration 1.0 section 2; absent: web. */
  readonly application_type?: 'web' | 'native';
  /** Signs its ID tokens (OpenID Connect Registration 1.0 section 2); absent: ES256. */
  readonly id_token_signed_response_alg?: 'ES256' | 'RS256';
  /**
   * It may leave PKCE out where it asks for `openid` with a nonce (RFC 9700 section 2.1.1); absent: it has to
   * use it, as a public client always has.
   */
  readonly without_pkce?: boolean;
  /** Origins whose scripts may call the token, userinfo and revocation endpoints, beside those of `redirect_uris`. */
  readonly origins?: readonly string[];
  /** A resource server that may introspect every token of these audiences. */
  readonly introspects?: readonly string[];
  /** The operator's own: people are not asked whether they allow what it asks for. */
  readonly first_party?: boolean;
  /** It may administer this server by itself, in the name of nobody. */
  readonly admin?: boolean;
  /** Scopes that it could ask for until then, in milliseconds since the epoch: consent from before is void. */
  readonly withdrawn_scopes?: Readonly<Record<string, number>>;
  /**
   * Nobody registered it (Client ID Metadata Documents): when its description was fetched, until when that counts as
   * current, and when its name, redirect URIs or keys last changed; in milliseconds since the epoch. `public_since`: when
   * it last gave its keys up, after which it shows none. `registered`: an operator named its description, so that the
   * client stays, whatever `clients.documents` says.
   */
  readonly document?: {
    readonly fetched: number;
    readonly until: number;
    readonly changed: number;
    readonly public_since?: number;
    readonly registered?: true;
  };
  /** A client of GNAP, which is none of OAuth. */
  readonly gnap?: GnapRegistration;
  /** Made by the first start; refused in production. */
  readonly demo?: boolean;
  readonly created_at: number;
}

/** The kind of artefact that keeps a client by its document until a person allows it something: `{ client }`. */
export const DOCUMENT_KIND = 'ClientDocument';

export interface Clients {
  /** False when the client_id is taken. */
  add(client: ClientRecord): Promise<boolean>;
  get(clientId: string): Promise<ClientRecord | undefined>;
  /** Clients by client_id; reads these rows and no others. */
  page(range: NameRange): Promise<readonly ClientRecord[]>;
  list(): Promise<readonly ClientRecord[]>;
  /**
   * Returns the ids of the clients that authenticate with the key of this fingerprint, in order; reads no other. Clients by
   * their documents are not among them.
   */
  withKey(keyId: string): Promise<readonly string[]>;
  /** Replaces an existing client, if it is still as `was`, where that is given; else false. Atomic. */
  replace(client: ClientRecord, was?: ClientRecord): Promise<boolean>;
  /** Removes a client, if it is still as `was`, where that is given; else false. Atomic. */
  remove(clientId: string, was?: ClientRecord): Promise<boolean>;
}
