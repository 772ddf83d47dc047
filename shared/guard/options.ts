/** The options of `protect`. */
export interface ProtectOptions {
  /** The authorization server's identifier, as in its tokens: `https://auth.example`. */
  readonly issuer: string;
  /** The public URL of your API: the URL of a space in the configuration of Countersign, and `aud` of your tokens. */
  readonly resource: string;
  /** The scopes that a token needs: a list, or a function that returns them for a method. */
  readonly scopes: readonly string[] | ((method: string) => readonly string[]);
  /**
   * The sign-in that requests need beside a token (RFC 9470): one object, or a list. If several objects name a
   * method, all of them apply.
   */
  readonly authentication?: AuthenticationChoice | readonly AuthenticationChoice[] | undefined;
  /** The name of the API in challenges and metadata; default: the host of `resource`. */
  readonly name?: string | undefined;
  /** The URL at which this process reaches the authorization server, if it is not the public origin. */
  readonly issuerUrl?: string | undefined;
  /**
   * A client of the authorization server with the scope `revocations:follow`, by which revoked tokens are refused at
   * once. Undefined members, as of a missing environment variable, throw.
   */
  readonly client?:
    | { readonly id: string | undefined; readonly secret: string | undefined }
    | undefined;
  /**
   * Default: `follow` with a `client`, else `none` with a warning: a revoked token is then valid until it expires.
   */
  readonly revocation?: RevocationChoice | undefined;
  /** Settings for tokens that are bound to a key (RFC 9449); false: such tokens are refused. */
  readonly dpop?: false | DpopChoice | undefined;
  /** Gets a line for each refusal (`info`) and for failures; `console` fits. Default: `console`, without `info`. */
  readonly log?: GuardLog | undefined;
}

/** A sign-in that is strong and recent enough. A token without data about its sign-in is refused. */
export interface NeededSignIn {
  /** The weakest accepted way to sign in. A passkey is stronger than a second factor. */
  readonly acr?: 'second-factor' | 'passkey' | undefined;
  /** Seconds since the sign-in, 10 or more. */
  readonly maxAge?: number | undefined;
}

export interface AuthenticationChoice extends NeededSignIn {
  /** Methods that need the sign-in; `safe` and `unsafe` mean all methods of that kind. Default: every method. */
  readonly methods?: readonly string[] | undefined;
}

/**
 * `follow`: while the authorization server does not answer, all requests get 503, since no token can be trusted.
 * `{ stale: 'allow', for: 300 }`: tokens are then valid for so many seconds more, even if revoked, which the log says.
 */
export type RevocationChoice =
  | 'follow'
  | 'none'
  | { readonly stale: 'allow'; readonly for: number };

export interface DpopChoice {
  /** If true, tokens that are bound to no key are refused. */
  readonly required?: boolean | undefined;
  /** If true, proofs must carry a nonce of your API (RFC 9449 section 9). */
  readonly nonce?: boolean | undefined;
  /** The secret of nonces in all processes, 32 characters or more. Default: random, for one process. */
  readonly secret?: string | undefined;
  /** A connected client of node-redis or ioredis, for used proofs of all processes. Default: memory. */
  readonly replay?: RedisClient | undefined;
}

export interface GuardLog {
  info(event: string, fields?: object): void;
  warn(event: string, fields?: object): void;
  error(event: string, fields?: object): void;
}

/** A client of node-redis or of ioredis, of one server, of Sentinel or of Cluster. */
export type RedisClient = NodeRedis | IoRedis;

interface NodeRedis {
  set(key: string, value: string, options: { NX: true; PX: number }): Promise<unknown>;
}

export interface IoRedis {
  call(command: string, ...args: string[]): Promise<unknown>;
  set(key: string, value: string, px: 'PX', milliseconds: number, nx: 'NX'): Promise<unknown>;
}
