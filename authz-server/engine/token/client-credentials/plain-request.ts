import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import { RecentMap } from '#shared/base/recent-map.ts';

/** A usual request for a token over HTTP/1.1: it has no repeated and no rare fields or parameters. */
export interface PlainRequest {
  readonly clientId: string;
  readonly secret: string;
  /** The parameters, each once and with a value. */
  readonly form: PlainForm;
}

export type PlainForm = Readonly<Partial<Record<(typeof PARAMETERS)[number], string>>>;

const PARAMETERS = ['grant_type', 'scope', 'resource', 'client_id', 'client_secret'] as const;
const KNOWN: ReadonlySet<string> = new Set(PARAMETERS);

/** The content types as the most common clients write them. */
const TYPES: ReadonlySet<string | undefined> = new Set(
  ['', ';charset=UTF-8', ';charset=utf-8', '; charset=UTF-8', '; charset=utf-8'].map(
    (charset) => `application/x-www-form-urlencoded${charset}`,
  ),
);

/** The fields that influence the engine's decisions. */
const DECIDING = [
  'content-encoding',
  'dpop',
  'expect',
  'oauth-client-attestation',
  'oauth-client-attestation-pop',
  'origin',
  'transfer-encoding',
] as const;

/** Bytes. */
const LONGEST = 4096;

/** A cache of parsed forms, since a client often sends the same form again. */
const known = new RecentMap<PlainForm>(1000);
const LONGEST_KNOWN = 512;

const ASCII = /^[!-~]+$/;
const BASIC = /^Basic ([A-Za-z0-9+/]+={0,2})$/;
const CREDENTIALS = /^([!-9;-~]+):([!-~]+)$/;

/**
 * Returns the parameters of a token request if it is plain and has arrived completely. The content stays readable.
 * Returns undefined for other requests, which the engine decides.
 */
export function plainRequest(request: IncomingMessage): PlainRequest | undefined {
  const { headers, httpVersionMajor, url } = request;
  if (httpVersionMajor !== 1 || url !== '/token') return undefined;
  if (!TYPES.has(headers['content-type'])) return undefined;
  if (DECIDING.some((name) => headers[name] !== undefined)) return undefined;
  const form = plainForm(request);
  if (form === undefined) return undefined;
  const { client_id, client_secret } = form;
  if (headers.authorization === undefined) {
    if (client_id === undefined || client_secret === undefined) return undefined;
    return { clientId: client_id, secret: client_secret, form };
  }
  const basic = plainBasic(headers.authorization);
  if (basic === undefined || client_id !== undefined || client_secret !== undefined) {
    return undefined;
  }
  return { ...basic, form };
}

function plainForm(request: IncomingMessage): PlainForm | undefined {
  const length = request.readableLength;
  if (length === 0 || length > LONGEST || `${length}` !== request.headers['content-length']) {
    return undefined;
  }
  const content: Buffer = request.read();
  request.unshift(content);
  const text = content.toString('latin1');
  const before = known.get(text);
  if (before !== undefined) return before;
  const form = parsed(text);
  // No secret may stay in memory.
  const isKept = form?.client_secret === undefined && length <= LONGEST_KNOWN;
  if (form !== undefined && isKept) known.set(text, form);
  return form;
}

function parsed(text: string): PlainForm | undefined {
  if (!ASCII.test(text)) return undefined;
  const form = parse(text);
  for (const [name, value] of Object.entries(form)) {
    if (!KNOWN.has(name) || typeof value !== 'string' || value === '') return undefined;
  }
  return form;
}

function plainBasic(authorization: string): Omit<PlainRequest, 'form'> | undefined {
  const [, coded = ''] = BASIC.exec(authorization) ?? [];
  const decoded = Buffer.from(coded, 'base64');
  if (decoded.toString('base64') !== coded) return undefined;
  const [, id, secret] = CREDENTIALS.exec(decoded.toString('latin1')) ?? [];
  const [clientId, plainSecret] = [unescaped(id), unescaped(secret)];
  if (clientId === undefined || plainSecret === undefined) return undefined;
  return { clientId, secret: plainSecret };
}

/** RFC 6749 section 2.3.1 and appendix A: visible characters, encoded as in a form. */
function unescaped(text = ''): string | undefined {
  try {
    const plain = decodeURIComponent(text.replaceAll('+', ' '));
    return /^[ -~]+$/.test(plain) ? plain : undefined;
  } catch {
    return undefined;
  }
}
