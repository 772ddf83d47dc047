import { credentials, quoted, token } from '../digest/challenges.ts';
import type { Param } from '../digest/challenges.ts';
import { DOORS } from '../digest/exchange.ts';
import type { DoorName, Field, HttpRequest } from '../digest/exchange.ts';
import { encodeContext } from './exporter-context.ts';
import type { ExporterContext } from './exporter-context.ts';
import { ALGORITHMS, publicOctets } from './keys.ts';
import type { ConcealedKey } from './keys.ts';

/** The 48 octets (section 3.2) that a connection makes of a context; `over-tls.ts` has those of TLS. */
export type Exporter = (context: Buffer) => Buffer;

export interface ConcealedOptions {
  readonly key: ConcealedKey;
  /** That of the connection the request goes over; any other makes a false proof. */
  readonly exporter: Exporter;
  /** Where a target in origin-form is: scheme, host, and the port if it is not that of the scheme. */
  readonly origin: string;
  /** Default: none is sent. */
  readonly realm?: string;
  /** The server that the proof is for: the origin (default), or the proxy. */
  readonly at?: DoorName;
  /** Changes the context before it is exported; `k`, `a` and `s` are then sent as it has them. */
  readonly prepare?: (context: ExporterContext) => ExporterContext;
  /** Makes of the exporter's output what is signed; default: section 3.3. */
  readonly cover?: (exported: Buffer) => Buffer;
  /** Signs; default: the key's algorithm. */
  readonly sign?: (content: Buffer, key: ConcealedKey) => Buffer;
  /** Changes the parameters as they are sent, after the proof was computed. */
  readonly tamper?: (params: readonly Param[]) => readonly Param[];
}

const SIGNATURE_INPUT = 32;

/**
 * The request with a proof by the Concealed scheme, written from RFC 9729 alone. Nothing is asked for
 * and nothing comes back: anybody who is not believed is answered as if there were nothing there.
 */
export function withProof(request: HttpRequest, options: ConcealedOptions): HttpRequest {
  const { key, exporter, origin, realm, at = 'origin' } = options;
  const honest: ExporterContext = {
    algorithm: ALGORITHMS[key.algorithm].code,
    keyId: key.keyId,
    publicKey: publicOctets(key),
    ...targetOf(request, origin),
    realm: realm ?? '',
  };
  const context = options.prepare?.(honest) ?? honest;
  const exported = exporter(encodeContext(context));
  const content = options.cover?.(exported) ?? covered(exported.subarray(0, SIGNATURE_INPUT));
  const proof =
    options.sign?.(content, key) ?? ALGORITHMS[key.algorithm].sign(content, key.privateKey);
  const params = [
    octets('k', context.keyId),
    octets('a', context.publicKey),
    token('s', String(context.algorithm)),
    octets('v', exported.subarray(SIGNATURE_INPUT)),
    octets('p', proof),
    ...(realm === undefined ? [] : [quoted('realm', realm)]),
  ];
  const sent = credentials('Concealed', options.tamper?.(params) ?? params);
  return { ...request, fields: [...request.fields, [DOORS[at].answer, sent]] };
}

/**
 * The content covered by the signature (section 3.3). The octets of figure 3 spell "HTTP Signature
 * Authentication"; the text, the name of the scheme and the label say what stands here.
 */
export function covered(signatureInput: Buffer): Buffer {
  const prefix = Buffer.alloc(64, 0x20);
  const text = Buffer.from('HTTP Concealed Authentication');
  return Buffer.concat([prefix, text, Buffer.of(0), signatureInput]);
}

/** Returns the field that a frontend sends to its backend (section 6.2), for a client that poses as one. */
export function exportField(exported: Buffer): Field {
  return ['Concealed-Auth-Export', `:${exported.toString('base64')}:`];
}

const URI = /^([a-z][a-z0-9+.-]*):\/\/(\[[^\]]*\]|[^:/?#]*)(?::([0-9]+))?/i;
const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/**
 * Returns the parts of the target URI. A CONNECT over TLS has one, too: `https` and the authority (RFC 9112
 * section 3.3). Parts that are compared octet by octet are in lower case (RFC 3986 section 6.2.2.1).
 */
function targetOf({ method, target }: HttpRequest, origin: string) {
  const uri = method === 'CONNECT' ? `https://${target}` : target;
  const [, scheme = '', host = '', port] = URI.exec(uri) ?? URI.exec(origin) ?? [];
  const lower = scheme.toLowerCase();
  return { scheme: lower, host: host.toLowerCase(), port: Number(port ?? PORTS[lower]) };
}

/** base64url without quotes and padding (section 4). */
function octets(name: string, value: Buffer): Param {
  return token(name, value.toString('base64url'));
}
