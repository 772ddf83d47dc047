/** The options of `protect`. */
export interface ProtectOptions {
  /** The authorization server, by the name that its tokens have for it: `https://auth.example`. */
  readonly issuer: string;
  /** Your API, by the address that clients know: a space of the authorization server, and the audience of its tokens. */
  readonly resource: string;
  /** The scopes that a token needs: a list, or a function that returns them for a method. */
  readonly scopes: readonly string[] | ((method: string) => readonly string[]);
  /**
   * The sign-in that requests need beside a token (RFC 9470): one object, or a list. If several name a method, all of
   * them count.
   */
  readonly authentication?: AuthenticationChoice | readonly AuthenticationChoice[] | undefined;
  /** Names the API in challenges and metadata; default: the host of `resource`. */
  readonly name?: string | undefined;
  /** Where the authorization server is reached from here, if not by its public origin. */
  readonly issuerUrl?: string | undefined;
  /**
   * A client of the authorization server with the scope `revocations:follow`, by which revoked tokens are refused at
   * once. Undefined members, as of an environment variable that is not set, throw.
   */
  readonly client?:
    | { readonly id: string | undefined; readonly secret: string | undefined }
    | undefined;
  /**
   * Default: `follow` if there is a `client`, else `none` with a warning: a revoked token is then good until it
   * expires.
   */
  readonly revocation?: RevocationChoice | undefined;
  /** Tokens that are bound to a key (RFC 9449), which are taken unless this is false. */
  readonly dpop?: false | DpopChoice | undefined;
  /** Takes a line for each refusal (`info`) and for what goes wrong; `console` will do. Default: `console`, without `info`. */
  readonly log?: GuardLog | undefined;
}

/** A sign-in that is strong and recent enough. A token that does not tell of its sign-in never is. */
export interface NeededSignIn {
  /** The least way to sign in. A passkey is more than a second factor. */
  readonly acr?: 'second-factor' | 'passkey' | undefined;
  /** Seconds since the sign-in, 10 or more. */
  readonly maxAge?: number | undefined;
}

export interface AuthenticationChoice extends NeededSignIn {
  /** Methods that need it; `safe` and `unsafe` stand for all of their kind. Default: every method. */
  readonly methods?: readonly string[] | undefined;
}

/**
 * `follow`: while the authorization server does not answer, no token can be trusted, and all requests are 503.
 * `{ stale: 'allow', for: 300 }`: then tokens are good for that many seconds more, revoked or not, which the log says.
 */
export type RevocationChoice =
  | 'follow'
  | 'none'
  | { readonly stale: 'allow'; readonly for: number };

export interface DpopChoice {
  /** Tokens that are bound to no key are refused. */
  readonly required?: boolean | undefined;
  /** Proofs must carry a nonce of yours (RFC 9449 section 9). */
  readonly nonce?: boolean | undefined;
  /** Makes the nonces, 32 characters or more: the same in all processes. Default: random, good for one process. */
  readonly secret?: string | undefined;
  /** A connected client of node-redis or ioredis, in which all processes see what proofs were used. Default: memory. */
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
