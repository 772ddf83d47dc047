import { credentials, quoted, token } from '../digest/challenges.ts';
import type { Param } from '../digest/challenges.ts';
import { DOORS } from '../digest/exchange.ts';
import type { DoorName, Field, HttpRequest } from '../digest/exchange.ts';
import { encodeContext } from './exporter-context.ts';
import type { ExporterContext } from './exporter-context.ts';
import { ALGORITHMS, publicOctets } from './keys.ts';
import type { ConcealedKey } from './keys.ts';

/** Returns a connection's 48 octets (section 3.2) for a context. `over-tls.ts` has the exporter of TLS. */
export type Exporter = (context: Buffer) => Buffer;

export interface ConcealedOptions {
  readonly key: ConcealedKey;
  /** The exporter of the request's connection. Any other exporter makes a false proof. */
  readonly exporter: Exporter;
  /** The origin of a target in origin-form: scheme, host, and a port that is not the default. */
  readonly origin: string;
  /** Default: no realm is sent. */
  readonly realm?: string;
  /** The server that checks the proof: the origin (default), or the proxy. */
  readonly at?: DoorName;
  /** Changes the context before it is exported. The changed `k`, `a` and `s` are then sent. */
  readonly prepare?: (context: ExporterContext) => ExporterContext;
  /** Makes the signed octets from the exporter's output; default: as section 3.3 says. */
  readonly cover?: (exported: Buffer) => Buffer;
  /** Signs; default: with the key's algorithm. */
  readonly sign?: (content: Buffer, key: ConcealedKey) => Buffer;
  /** Changes the sent parameters after the proof was computed. */
  readonly tamper?: (params: readonly Param[]) => readonly Param[];
}

const SIGNATURE_INPUT = 32;

/**
 * Adds a proof of the Concealed scheme to a request, written from RFC 9729 alone. The server sends no
 * challenge and no answer to the proof: a refused client gets the answer of an address that does not exist.
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
 * The signed content (section 3.3). The octets of figure 3 spell "HTTP Signature Authentication", but the
 * text, the scheme's name and the label say "HTTP Concealed Authentication".
 */
export function covered(signatureInput: Buffer): Buffer {
  const prefix = Buffer.alloc(64, 0x20);
  const text = Buffer.from('HTTP Concealed Authentication');
  return Buffer.concat([prefix, text, Buffer.of(0), signatureInput]);
}

/**
 * Returns the field that a frontend sends to its backend (section 6.2), for a client that pretends to be a
 * frontend.
 */
export function exportField(exported: Buffer): Field {
  return ['Concealed-Auth-Export', `:${exported.toString('base64')}:`];
}

const URI = /^([a-z][a-z0-9+.-]*):\/\/(\[[^\]]*\]|[^:/?#]*)(?::([0-9]+))?/i;
const PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/**
 * Returns the parts of the target URI. A CONNECT over TLS has a target URI, too: `https` and the authority
 * (RFC 9112 section 3.3). Parts that are compared octet by octet are in lower case (RFC 3986 section
 * 6.2.2.1).
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
