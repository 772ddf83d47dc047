import type { Level } from '#shared/jose/acr.ts';
import type { NameRange } from '#shared/base/name-range.ts';

/** A replaced secret. `from`: when it was replaced. It is valid until before `until`. Milliseconds since the epoch. */
export interface FormerSecret {
  readonly hash: string;
  readonly from: number;
  readonly until: number;
}

export type RegisteredKey =
  | { readonly proof: unknown; readonly jwk: Readonly<Record<string, unknown>> }
  | { readonly proof: 'mtls'; readonly 'cert#S256': string };

export interface GnapRegistration {
  /** The public key, and how the client proves the possession of the private key (RFC 9635 section 7.1). */
  readonly key: RegisteredKey;
  /** The client may have tokens that are bound to no key (RFC 9635 section 2.1.1, flag `bearer`). */
  readonly bearer?: boolean;
  /** No operator registered the client: a person allowed its request. */
  readonly unknown?: boolean;
}

/** When a client may omit PKCE. */
export const PKCE_MODES = ['required', 'nonce', 'off'] as const;

/** The security profiles of clients: `fapi2` is the FAPI 2.0 Security Profile. */
export const PROFILES = ['fapi2'] as const;

/** A registered OAuth client, with the members of RFC 7591 section 2 and our own. */
export interface ClientRecord {
  readonly client_id: string;
  readonly client_name: string;
  /** The address of a picture for its sign-in and consent pages (RFC 7591 section 2). */
  readonly logo_uri?: string;
  readonly grant_types: readonly string[];
  readonly token_endpoint_auth_method:
    | 'client_secret_basic'
    | 'client_secret_post'
    | 'private_key_jwt'
    | 'none';
  /** base64url(SHA-256(secret)); the secret itself is shown once and never stored. */
  readonly secret_hash?: string;
  /** The previous secret, which is valid for some time after a rotation. */
  readonly former_secret?: FormerSecret;
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] };
  /** All scopes that the client may request, separated by spaces. */
  readonly scope: string;
  /** The scopes of a request that names none; absent: all of `scope`. */
  readonly default_scope?: string;
  /** RFC 8707 resources that the client may name; absent: all configured resources. */
  readonly resources?: readonly string[];
  /** Targets of the authorization code: compared exactly, but for the loopback port of a native client. */
  readonly redirect_uris?: readonly string[];
  /** Targets after sign-out (OpenID Connect RP-Initiated Logout 1.0 section 3). */
  readonly post_logout_redirect_uris?: readonly string[];
  /** Where the client is told that a session has ended (OpenID Connect Back-Channel Logout 1.0 section 2.2). */
  readonly backchannel_logout_uri?: string;
  /** Where people begin to use the client (http or https). Absent: the account page does not list the client. */
  readonly start_url?: string;
  /** OpenID Connect Registration 1.0 section 2; absent: web. */
  readonly application_type?: 'web' | 'native';
  /** The algorithm of its ID tokens (OpenID Connect Registration 1.0 section 2); absent: ES256. */
  readonly id_token_signed_response_alg?: 'ES256' | 'RS256';
  /**
   * When the client may omit PKCE; absent: never, as with `required` (RFC 9700 section 2.1.1). `nonce`: in requests of
   * `openid` with a nonce; `off`: in all requests. A public client may never omit it.
   */
  readonly pkce?: (typeof PKCE_MODES)[number];
  /** The security profile by which the server treats the client; absent: none. */
  readonly profile?: (typeof PROFILES)[number];
  /** Origins whose scripts may call the token, userinfo and revocation endpoints, beside those of `redirect_uris`. */
  readonly origins?: readonly string[];
  /** Rules for claims that need no scope, in the form of `formatRule`. For each claim the first match counts. */
  readonly claim_rules?: readonly string[];
  /** A resource server that may introspect every token of these audiences. */
  readonly introspects?: readonly string[];
  /** The people who may use the client: those in these groups, and those with these names. Absent: everybody. */
  readonly allow_groups?: readonly string[];
  readonly allow_people?: readonly string[];
  /** The weakest sign-in with which people may use the client; absent: any sign-in. */
  readonly minimum_acr?: Level;
  /** A client of the operator: people are not asked for consent. */
  readonly first_party?: boolean;
  /** The client may administer this server in its own name. */
  readonly admin?: boolean;
  /**
   * Scopes that the client may no longer request, with the time of their withdrawal in milliseconds since the epoch.
   * Earlier consent to them is void.
   */
  readonly withdrawn_scopes?: Readonly<Record<string, number>>;
  /**
   * The client has a description by URL (Client ID Metadata Documents): when it was fetched, until when it is current,
   * and when its name, redirect URIs or keys last changed, in milliseconds since the epoch. `public_since`: when the
   * client last gave up its keys. `registered`: an operator named the URL, so `clients.documents` does not end the
   * client.
   */
  readonly document?: {
    readonly fetched: number;
    readonly until: number;
    readonly changed: number;
    readonly public_since?: number;
    readonly registered?: true;
  };
  /** The registration of a GNAP client, which is no OAuth client. */
  readonly gnap?: GnapRegistration;
  /** Made by the first start; refused in production. */
  readonly demo?: boolean;
  readonly created_at: number;
}

/** The kind of artefact that keeps a client with a description until a person allows a request: `{ client }`. */
export const DOCUMENT_KIND = 'ClientDocument';

export interface Clients {
  /** False: the client_id exists. */
  add(client: ClientRecord): Promise<boolean>;
  get(clientId: string): Promise<ClientRecord | undefined>;
  /** Returns clients by client_id. Reads only these rows. */
  page(range: NameRange): Promise<readonly ClientRecord[]>;
  list(): Promise<readonly ClientRecord[]>;
  /** Returns clients with a search key that begins with `start`, in no order, at most 250. */
  searchBeginning(start: string): Promise<readonly ClientRecord[]>;
  /** Returns the ids of the clients with the key of this fingerprint, in order. Reads only these rows. */
  withKey(keyId: string): Promise<readonly string[]>;
  /**
   * Replaces a client. False: no such client, or the stored client is not `was`. If the rules change by which people
   * may use the client, a row for `authz-server/logout` is written, too: it ends the grants that the rules forbid.
   * Atomic.
   */
  replace(client: ClientRecord, was?: ClientRecord): Promise<boolean>;
  /** Removes a client. False: no such client, or the stored client is not `was`. Atomic. */
  remove(clientId: string, was?: ClientRecord): Promise<boolean>;
}
