import type { Awaitable } from '#shared/base/awaitable.ts';
import type { Fields } from '#shared/http/answer.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import type { Credentials } from '#shared/http/auth/credentials.ts';
import type { Cookie } from '#shared/http/cookies.ts';

/** Where credentials are asked for and given: by an origin (RFC 9110 section 11.6) or a proxy (11.7). */
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

/** What a request says, as far as authentication reads it. No Koa and no response. */
export interface AuthRequest {
  readonly at: Position;
  readonly method: string;
  /** It asks for a WebSocket, by which its client writes as well as reads. */
  readonly handshake?: boolean;
  /** As received. */
  readonly target: string;
  /** Scheme, host and port as configured, never from the Host field. */
  readonly origin: string;
  /** The value of a field that may come once; throws `BadRequest` when it comes twice. */
  field(name: string): string | undefined;
  /** Every line of a field, in order. */
  lines(name: string): readonly string[];
  /** Parsed once a request. */
  readonly cookies: readonly Cookie[];
  readonly peer: {
    readonly address: string;
    /** The same object for every request of one HTTP/1.1 connection. */
    readonly connection: object;
    readonly http2: boolean;
    readonly trusted: boolean;
  };
  /**
   * Nobody between the client and us reads along: TLS, as far as this connection or a trusted proxy
   * says, or clear text that does not leave this machine.
   */
  readonly confidential: boolean;
  /**
   * `length` bytes that only the two ends of this connection know (RFC 8446 section 7.5); absent unless it is of
   * TLS 1.3, which ends here.
   */
  readonly exporter?: ((label: string, context: Buffer, length: number) => Buffer) | undefined;
  /** In DER: the server's, as the client sees it over TLS; absent where that does not end here. */
  readonly certificate?: (() => Buffer) | undefined;
  /** Absent where the content does not come, such as `/verify`. */
  readonly content?: {
    /**
     * Digest of the whole content, by a name of `node:crypto`; who handles the request can still read
     * it. Throws `HttpError` 413 when it is too long, `BadRequest` when it ends early.
     */
    digest(hash: string): Promise<Buffer>;
  };
}

/** As what a request is held against scopes, and against what a page elsewhere may send: its method, or this. */
export const actOf = ({ method, handshake }: Pick<AuthRequest, 'method' | 'handshake'>) =>
  handshake ? 'WEBSOCKET' : method;

/** What the directory says of a person now. */
export interface About {
  /** What they sign in with. */
  readonly name: string;
  /** The primary address, if somebody has made sure that it is theirs. */
  readonly email?: string;
  readonly groups: readonly string[];
}

export type Principal = (
  | { readonly kind: 'person'; readonly realm: string; readonly name: string }
  | { readonly kind: 'application'; readonly id: string }
  | { readonly kind: 'anonymous' }
) & {
  /** Absent: the scheme knows no scopes and the space's apply. */
  readonly scopes?: ReadonlySet<string>;
  /** What the doors may tell an application behind them (`/verify`), for example `client_id`, `jti`. */
  readonly claims?: Readonly<Record<string, string>>;
  /** Of a person, where the space asks the directory. */
  readonly about?: About;
};

/** What a granted request owes its client besides the answer. */
export interface Proof {
  /** Parameters of Authentication-Info or Proxy-Authentication-Info. */
  readonly info?: AuthParams;
  /** The last token of an exchange, sent as a challenge with a success (RFC 4559 section 5). */
  readonly ask?: Challenge;
  readonly fields?: Fields;
}

/** A proof that depends on the content of the answer (RFC 7616 section 3.5, qop=auth-int). */
export interface Seal<T> {
  /** A hash of `node:crypto`. */
  readonly hash: string;
  /** From the digest of the content as it is sent; of HEAD, of no content. */
  proof(digest: Buffer): T;
}

/**
 * What somebody was let in by that may end while they stay, other than by a change of the person: a token or a key.
 */
export interface Grounds {
  /** The same for all who were let in by the same. */
  readonly of: string;
  /** Why it would not let them in any more. Throws or rejects when that cannot be known. */
  end(): Awaitable<GroundsEnd | undefined>;
}

/**
 * `revoked`: somebody has taken it away, also after its time. `expired`: nobody has, but its time is over, which
 * ends nothing that is under way.
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
  /** Another leg of an exchange of several messages: this challenge and no other is the answer. */
  | { readonly kind: 'continued'; readonly challenge: Challenge }
  | {
      readonly kind: 'refused';
      /** For the log, never for the client. */
      readonly reason: string;
      /** `http-1.1`: needs a connection of its own (RFC 9113 section 7, HTTP_1_1_REQUIRED). */
      readonly as?: 'unauthenticated' | 'malformed' | 'forbidden' | 'http-1.1';
      /** Replace this scheme's own challenges only. */
      readonly challenges?: readonly Challenge[];
      readonly fields?: Fields;
    }
  | {
      readonly kind: 'unavailable';
      readonly reason: string;
      readonly status: 429 | 503;
      /** Seconds. */
      readonly retryAfter: number;
      readonly fields?: Fields;
    };

/** A scheme cannot announce itself before the operator has set it up. Becomes 503. */
export class NotSetUp extends Error {
  override readonly name = 'NotSetUp';
}

/** One file, one factory. Says, never writes; throws only when it could not do its work. */
export interface Scheme {
  /** As registered at IANA. */
  readonly name: string;
  /** Browsers send these credentials by themselves, so another site can make them do it. */
  readonly ambient?: boolean;
  /** They count only where no others for the space are shown, since they come with whatever a browser sends. */
  readonly yields?: true;
  /** Never beside other credentials: they would name whom it hides. */
  readonly alone?: true;
  /** It hides: nothing that the server says of itself names it. */
  readonly unannounced?: true;
  /**
   * Whether a line of Authorization is ignored, as if it had not come (RFC 9729 section 6.1); `credentials`: undefined
   * where they are malformed.
   */
  ignores?(line: string, credentials: Credentials | undefined): boolean;
  /** Credentials outside the Authorization field. */
  locate?(request: AuthRequest): Credentials | undefined;
  /** Empty: does not announce itself. */
  challenge(request: AuthRequest): Awaitable<readonly Challenge[]>;
  authenticate(credentials: Credentials, request: AuthRequest): Awaitable<Verdict>;
  /** What it needs, in words for the client, where no challenge tells. */
  needs?(request: AuthRequest): string | undefined;
  /** The challenge that asks for more scope (RFC 6750 section 3.1, RFC 9449 section 7.1). */
  insufficientScope?(scopes: readonly string[], request: AuthRequest): Challenge;
}

/** Who may enter a space at all, whatever the scheme. */
export interface Allowed {
  readonly groups: ReadonlySet<string>;
  /** By id. */
  readonly people: ReadonlySet<string>;
  /** Applications that come for themselves, by id. */
  readonly clients: ReadonlySet<string>;
}

/** Resources that share authentication requirements (RFC 9110 section 11.5). */
export interface ProtectionSpace {
  readonly at: Position;
  /** Names the space in logs and challenges. */
  readonly realm: string;
  readonly schemes: readonly Scheme[];
  /**
   * `forbidden`: 403 becomes 404 (specification 3.1). `everything`: whoever is not let in finds no
   * space here at all (RFC 9729 section 6.4).
   */
  readonly hide?: 'forbidden' | 'everything';
  /** Scopes that a request of this method needs. */
  scopes(method: string): readonly string[];
  /** Scopes of who was let in by a scheme that knows none; absent: none. */
  granted?(principal: Principal): ReadonlySet<string>;
  /** What the directory says of a person, at each request; absent: it is not asked. Undefined: nobody who may enter. */
  about?(id: string): Awaitable<About | undefined>;
  /** Who may enter at all; absent: whoever is let in by a scheme. */
  readonly allow?: Allowed;
  /** An application's credentials that may come beside those of a person, for quotas. */
  readonly application?: Scheme;
  /** Origins, besides its own, whose pages may send unsafe requests (CORS). */
  readonly corsOrigins?: readonly string[];
  /** With ambient credentials as well. */
  readonly corsCredentials?: boolean;
}

export type Outcome =
  | {
      readonly kind: 'pass';
      readonly scheme: string;
      /** Has scopes, whatever the scheme. */
      readonly principal: Principal;
      /** Who showed credentials beside those of the principal. */
      readonly application?: Principal;
      /** Of the one and of the other; absent: none but the person. */
      readonly grounds?: readonly Grounds[];
      readonly fields: Fields;
      readonly seal?: Seal<Fields>;
    }
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly fields: Fields;
      /** For the log. */
      readonly reason: string;
      /** For the client, where there is more to say than of every answer of the status. */
      readonly detail?: string;
      readonly scheme?: string;
      /** Of a person who passed, and may not enter or lacks a scope, where the space asks the directory. */
      readonly about?: About;
      /** Of who passed and lacks a scope: owed with this answer as with any other. */
      readonly seal?: Seal<Fields>;
      /** Over HTTP/2 the stream is reset with HTTP_1_1_REQUIRED instead. */
      readonly http11?: boolean;
    }
  /** Routing goes on as if the space were not configured. */
  | { readonly kind: 'absent'; readonly reason: string };
