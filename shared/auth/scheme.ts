import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Client } from '#shared/base/line.ts';
import type { Fields } from '#shared/http/answer.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import type { Credentials } from '#shared/http/auth/credentials.ts';
import type { Cookie } from '#shared/http/cookies.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';

/** The status and fields for credentials, which differ between an origin (RFC 9110 section 11.6) and a proxy (11.7). */
export interface Position {
  readonly status: 401 | 407;
  readonly ask: 'WWW-Authenticate' | 'Proxy-Authenticate';
  readonly answer: 'Authorization' | 'Proxy-Authorization';
  readonly info: 'Authentication-Info' | 'Proxy-Authentication-Info';
}

export const ORIGIN: Position = {
  status: 401,
  ask: 'WWW-Authenticate',
  answer: 'Authorization',
  info: 'Authentication-Info',
};
export const PROXY: Position = {
  status: 407,
  ask: 'Proxy-Authenticate',
  answer: 'Proxy-Authorization',
  info: 'Proxy-Authentication-Info',
};

/** The parts of a request that authentication reads, independent of Koa and of the response. */
export interface AuthRequest {
  readonly at: Position;
  readonly method: string;
  /** True if the request asks for a WebSocket, over which the client both reads and writes. */
  readonly handshake?: boolean;
  /** The request target, as received. */
  readonly target: string;
  /** The configured scheme, host and port, never those of the Host field. */
  readonly origin: string;
  /** Returns the value of a field that may occur once; throws `BadRequest` if it occurs twice. */
  field(name: string): string | undefined;
  /** Returns every line of a field, in order. */
  lines(name: string): readonly string[];
  /** The request's cookies, parsed once. */
  readonly cookies: readonly Cookie[];
  readonly peer: {
    readonly address: string;
    /** The same object for every request of one HTTP/1.1 connection, by which a scheme recognizes the connection. */
    readonly connection: object;
    readonly http2: boolean;
    readonly trusted: boolean;
  };
  /** The connection's other end, whose closing cancels waiting work; absent if closing cannot be observed. */
  readonly client?: Client;
  /**
   * True if no third party can read the request: it came over TLS, directly or as a trusted proxy reports, or in
   * clear text that does not leave this machine.
   */
  readonly confidential: boolean;
  /**
   * Returns `length` bytes that only the two ends of this connection can compute (RFC 8446 section 7.5); absent
   * unless this server terminates the connection's TLS 1.3.
   */
  readonly exporter?: ((label: string, context: Buffer, length: number) => Buffer) | undefined;
  /** Returns the server certificate that the client sees, in DER; absent if this server does not terminate TLS. */
  readonly certificate?: (() => Buffer) | undefined;
  /** The request's content; absent if the content does not reach this server, as at `/verify`. */
  readonly content?: {
    /**
     * Returns the digest of the whole content, with a hash named as in `node:crypto`. The handler of the request can
     * still read the content. Throws `HttpError` 413 if the content is too long, `BadRequest` if it ends early.
     */
    digest(hash: string): Promise<Buffer>;
  };
}

/**
 * Returns the method by which scopes and cross-site rules are checked; a WebSocket handshake has a name of its own.
 */
export const actOf = ({ method, handshake }: Pick<AuthRequest, 'method' | 'handshake'>) =>
  handshake ? 'WEBSOCKET' : method;

/** The directory's current data about a person. */
export interface About {
  /** The name with which the person signs in. */
  readonly name: string;
  /** The primary email address, if it was verified. */
  readonly email?: string;
  readonly groups: readonly string[];
}

/**
 * How and when a person signed in, as their token or session says. A requirement about an absent member is not met.
 */
export interface AuthenticationEvent {
  readonly acr?: string;
  /** NumericDate. */
  readonly authTime?: number;
}

/** The sign-in that a request needs (RFC 9470 section 3). */
export interface NeededAuthentication {
  /** Every value of `acr` that is enough, weakest first; absent if every value is enough. */
  readonly acrValues?: readonly string[];
  /** Seconds since the sign-in. */
  readonly maxAge?: number;
}

export type Principal = (
  | { readonly kind: 'person'; readonly realm: string; readonly name: string }
  | { readonly kind: 'application'; readonly id: string }
  | { readonly kind: 'anonymous' }
) & {
  /** The scopes; absent if the scheme has no scopes, so that the scopes of the space apply. */
  readonly scopes?: ReadonlySet<string>;
  /** Claims that `/verify` and the gateway may pass to the application, for example `client_id` and `jti`. */
  readonly claims?: Readonly<Record<string, string>>;
  /** The directory's data about a person, if the space asks the directory. */
  readonly about?: About;
  /** The person's sign-in; absent if the credentials do not say how the person signed in. */
  readonly authentication?: AuthenticationEvent;
};

/** Fields that the client needs in the answer to a granted request. */
export interface Proof {
  /** Parameters of Authentication-Info or Proxy-Authentication-Info. */
  readonly info?: AuthParams;
  /** The last token of an exchange, sent as a challenge in a successful answer (RFC 4559 section 5). */
  readonly ask?: Challenge;
  readonly fields?: Fields;
}

/** A proof that depends on the content of the answer (RFC 7616 section 3.5, qop=auth-int). */
export interface Seal<T> {
  /** The hash, named as in `node:crypto`. */
  readonly hash: string;
  /** Returns the proof for the digest of the content that is sent, which is empty for HEAD. */
  proof(digest: Buffer): T;
}

/**
 * The token or key by which a principal was admitted. It may be revoked while the principal stays connected, even if
 * the person does not change.
 */
export interface Grounds {
  /** A name that is the same for all principals that were admitted by the same token or key. */
  readonly of: string;
  /** Returns why the token or key would no longer admit the principal. Throws or rejects if it cannot find out. */
  end(): Awaitable<GroundsEnd | undefined>;
}

/**
 * `revoked`: the token or key was revoked, possibly after it expired. `expired`: its time is over without a
 * revocation, which ends no request under way.
 */
export type GroundsEnd = 'revoked' | 'expired';

export type Verdict =
  | {
      readonly kind: 'granted';
      readonly principal: Principal;
      readonly grounds?: Grounds;
      readonly proof?: Proof;
      readonly seal?: Seal<Proof>;
    }
  /** The scheme's next message in an exchange of several: the answer has this challenge and no other. */
  | { readonly kind: 'continued'; readonly challenge: Challenge }
  /** The reason of such a refusal never shows whether a name or key exists. */
  | (Refusal & {
      readonly kind: 'refused';
      /** The reason goes to the log only, even in development. */
      readonly untold?: true;
      /** `http-1.1`: the exchange needs a connection of its own (RFC 9113 section 7, HTTP_1_1_REQUIRED). */
      readonly as?: 'unauthenticated' | 'malformed' | 'forbidden' | 'http-1.1';
      /** Challenges that replace those of this scheme; the other schemes' challenges stay. */
      readonly challenges?: readonly Challenge[];
      readonly fields?: Fields;
    })
  | (Refusal & {
      readonly kind: 'unavailable';
      readonly status: 429 | 503;
      /** Seconds. */
      readonly retryAfter: number;
      readonly fields?: Fields;
    });

/** Thrown by a scheme that cannot announce itself before the operator has set it up. The answer is 503. */
export class NotSetUp extends Error {
  override readonly name = 'NotSetUp';
}

/**
 * An authentication scheme, from one factory in one file. It returns verdicts, never writes to a response, and throws
 * only if it could not decide.
 */
export interface Scheme {
  /** The name, as registered at IANA. */
  readonly name: string;
  /**
   * True if browsers send these credentials by themselves, so that a page of another site can make a browser send
   * them.
   */
  readonly ambient?: boolean;
  /**
   * True if these credentials are ignored beside other credentials for the space, since a browser sends them with
   * every request.
   */
  readonly yields?: true;
  /** True if these credentials must not come with others, which would name the person that this scheme hides. */
  readonly alone?: true;
  /** True if the scheme is hidden: the server never names it in a description of itself. */
  readonly unannounced?: true;
  /**
   * True if a line of Authorization is ignored as if it were absent (RFC 9729 section 6.1); `credentials` is undefined
   * if they are malformed.
   */
  ignores?(line: string, credentials: Credentials | undefined): boolean;
  /** Finds credentials outside the Authorization field. */
  locate?(request: AuthRequest): Credentials | undefined;
  /** Returns the challenges; empty if the scheme does not announce itself. */
  challenge(request: AuthRequest): Awaitable<readonly Challenge[]>;
  authenticate(credentials: Credentials, request: AuthRequest): Awaitable<Verdict>;
  /** Describes for the client what the scheme needs, if no challenge says so. */
  needs?(request: AuthRequest): string | undefined;
  /** Returns the challenge that asks for more scopes (RFC 6750 section 3.1, RFC 9449 section 7.1). */
  insufficientScope?(scopes: readonly string[], request: AuthRequest): Challenge;
  /**
   * Returns the challenge that asks for another sign-in, with the scopes to ask for (RFC 9470 section 3). Absent if
   * the scheme's credentials do not show how a person signed in.
   */
  insufficientAuthentication?(needed: NeededAuthentication, scopes: readonly string[]): Challenge;
}

/** The people and applications that may enter a space, with any scheme. */
export interface Allowed {
  readonly groups: ReadonlySet<string>;
  /** People, by id. */
  readonly people: ReadonlySet<string>;
  /** Applications that act on their own behalf, by id. */
  readonly clients: ReadonlySet<string>;
}

/** Resources that share authentication requirements (RFC 9110 section 11.5). */
export interface ProtectionSpace {
  readonly at: Position;
  /** Names the space in logs and challenges. */
  readonly realm: string;
  readonly schemes: readonly Scheme[];
  /**
   * `forbidden`: 403 becomes 404. `everything`: a client that is not admitted gets the answer that it would get if
   * the space did not exist (RFC 9729 section 6.4).
   */
  readonly hide?: 'forbidden' | 'everything';
  /** Returns the scopes that a request with this method needs. */
  scopes(method: string): readonly string[];
  /** Returns the scopes of a principal whose scheme has no scopes; absent if such principals get none. */
  granted?(principal: Principal): ReadonlySet<string>;
  /**
   * Asks the directory about a person, at each request. Returns undefined if the person may not enter. Absent if the
   * space does not use the directory.
   */
  about?(id: string): Awaitable<About | undefined>;
  /**
   * Returns the sign-in that a request with this method needs, if the principal's sign-in is not enough. Absent if
   * every sign-in is enough.
   */
  stepUp?(method: string, principal: Principal): NeededAuthentication | undefined;
  /** Principals that may enter; absent if every authenticated principal may enter. */
  readonly allow?: Allowed;
  /** The scheme of an application's credentials, which may accompany a person's credentials, for quotas. */
  readonly application?: Scheme;
  /** Other origins whose pages may send unsafe requests (CORS). */
  readonly corsOrigins?: readonly string[];
  /** Whether pages of the origins in `corsOrigins` may send ambient credentials, too. */
  readonly corsCredentials?: boolean;
}

export type Outcome =
  | {
      readonly kind: 'pass';
      readonly scheme: string;
      /** The principal, with scopes for every scheme. */
      readonly principal: Principal;
      /** The application whose credentials accompanied those of the principal. */
      readonly application?: Principal;
      /** Grounds of the principal and of the application; absent if only a change of the person ends their access. */
      readonly grounds?: readonly Grounds[];
      readonly fields: Fields;
      readonly seal?: Seal<Fields>;
    }
  | (Refusal & {
      readonly kind: 'answer';
      readonly status: number;
      readonly fields: Fields;
      /** The reason goes to the log only, even in development: the answer must look like others. */
      readonly untold?: true;
      /** Text for the client, if the status alone does not explain the answer. */
      readonly detail?: string;
      readonly scheme?: string;
      /** The sign-in that the principal lacks (RFC 9470). */
      readonly needed?: NeededAuthentication;
      /**
       * The directory's data about a person who was authenticated but not admitted, if the space asks the directory.
       */
      readonly about?: About;
      /** The seal owed to a principal that was authenticated but lacks a scope, as with any other answer. */
      readonly seal?: Seal<Fields>;
      /** If true, an HTTP/2 stream is reset with HTTP_1_1_REQUIRED, without this answer. */
      readonly http11?: boolean;
    })
  /** Routing continues as if the space were not configured. */
  | (Refusal & { readonly kind: 'absent' });
