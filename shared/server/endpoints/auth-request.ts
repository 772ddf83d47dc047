import { TLSSocket } from 'node:tls';
import { type Cookie, parseCookies } from '#shared/http/cookies.ts';
import { BadRequest, lines, single } from '#shared/http/fields.ts';
import { clientAddress, forwardedScheme, type TrustedProxies } from '#shared/http/forwarded.ts';
import { contentDigest } from '../content/content.ts';
import { exporterOf } from './exporter.ts';
import { type AnyRequest, clientOf } from '../message/message.ts';
import { upgradeOf } from '../tunnels/upgrade.ts';
import type { AuthRequest, Position } from '#shared/auth/scheme.ts';

/** The method and target of a request, as its recipient reads them. */
export type Asked = Pick<AuthRequest, 'method' | 'target' | 'origin'>;

type Content = NonNullable<AuthRequest['content']>;

/** The request's member for its parsed cookies. A map of requests would cost ten times as much. */
const COOKIES = Symbol('cookies');

type Parsed = AnyRequest & { [COOKIES]?: readonly Cookie[] };

/** The server to which requests are sent, and what it knows about their connections. */
export interface Recipient {
  readonly at: Position;
  readonly proxies: TrustedProxies;
  /** True if requests in clear text can come only from this machine, not from another machine or through a proxy. */
  readonly local: boolean;
}

/** Returns a request that a proxy describes at `/verify`; its content and its connection are at the proxy. */
export function describedRequest(
  request: AnyRequest,
  asked: Asked,
  recipient: Recipient,
): AuthRequest {
  return new Described(request, asked, recipient);
}

/** Returns a request in the form that authentication reads. `content`: by default the content of the request. */
export function authRequest(
  request: AnyRequest,
  asked: Asked,
  recipient: Recipient,
  content?: Content,
): AuthRequest {
  return new Received(request, asked, recipient, content);
}

class Described implements AuthRequest {
  readonly method;
  readonly target;
  readonly origin;
  readonly at;
  readonly peer;
  protected readonly request: Parsed;
  readonly #local: boolean;
  readonly field = (name: string) => single(this.request.rawHeaders, name);
  readonly lines = (name: string) => lines(this.request.rawHeaders, name);

  constructor(
    request: AnyRequest,
    { method, target, origin }: Asked,
    { at, proxies, local }: Recipient,
  ) {
    const { rawHeaders, socket, httpVersionMajor } = request;
    const peer = socket.remoteAddress ?? '';
    this.request = request;
    this.method = method;
    this.target = target;
    this.origin = origin;
    this.at = at;
    this.#local = local;
    this.peer = {
      address: clientAddress(peer, lines(rawHeaders, 'x-forwarded-for'), proxies),
      connection: socket,
      http2: httpVersionMajor === 2,
      trusted: proxies.has(peer),
    };
  }

  /** A proxy that asks `/verify` uses its own connection, but passes on the client's fields (RFC 6455 section 4.1). */
  get handshake() {
    return this.request.headers['sec-websocket-key'] !== undefined;
  }

  get cookies() {
    this.request[COOKIES] ??= parseCookies(this.lines('cookie'));
    return this.request[COOKIES];
  }

  get client() {
    return clientOf(this.request);
  }

  get confidential() {
    if (this.#local || this.request.socket instanceof TLSSocket) return true;
    return this.peer.trusted && forwardedScheme(this.field('x-forwarded-proto')) === 'https';
  }
}

class Received extends Described {
  readonly content;

  constructor(request: AnyRequest, asked: Asked, recipient: Recipient, content?: Content) {
    super(request, asked, recipient);
    const { address } = this.peer;
    this.content = content ?? { digest: (hash) => contentDigest(request, hash, { address }) };
  }

  override get handshake() {
    return upgradeOf(this.request) !== undefined;
  }

  get exporter() {
    return exporterOf(this.request);
  }

  get certificate() {
    return ownCertificate(this.request);
  }
}

/**
 * Returns the server's certificate on the request's connection, in DER; undefined unless this server terminates TLS.
 * Throws `BadRequest` if the client has disconnected.
 */
export function ownCertificate({ socket }: Pick<AnyRequest, 'socket'>): AuthRequest['certificate'] {
  if (!(socket instanceof TLSSocket)) return undefined;
  return () => {
    const certificate = socket.destroyed ? undefined : socket.getX509Certificate();
    if (certificate === undefined) throw new BadRequest('The connection ended early.');
    return certificate.raw;
  };
}
