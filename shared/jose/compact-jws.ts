import { isUtf8 } from 'node:buffer';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import { ALGORITHMS, type JwsAlgorithm } from './algorithms.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface JwsRefusal extends Refusal {
  readonly ok: false;
}

/** The parts of a JWS whose signature is not yet verified. */
export interface CompactJws {
  readonly ok: true;
  readonly algorithm: JwsAlgorithm;
  readonly header: JsonObject;
  readonly payload: JsonObject;
  readonly signingInput: Buffer;
  readonly signature: Buffer;
}

/** Most characters; a token of ours has about 700, a proof with an RSA key of 4096 bits about 2000. */
const LARGEST = 8192;

/** Decodes base64url without padding (RFC 7515 section 2), in its canonical spelling only. */
function decode(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

function parseObject(bytes: Buffer | undefined): JsonObject | undefined {
  if (bytes === undefined || !isUtf8(bytes)) return undefined;
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Parses a JWS in Compact Serialization (RFC 7515 section 7.1) with a JSON object as its payload. `alg` must be on
 * the allow-list. `crit` is refused, since no extension is supported (section 4.1.11). If a member is repeated, the
 * last is used, as section 4 permits.
 */
export function parseCompactJws(text: string): CompactJws | JwsRefusal {
  if (text.length > LARGEST) return { ok: false, ...refuse('jws-length') };
  const parts = text.split('.', 4);
  const [first = '', second = '', third = ''] = parts;
  if (parts.length !== 3) return { ok: false, ...refuse('jws-parts') };
  const header = parseObject(decode(first));
  if (header === undefined) return { ok: false, ...refuse('jws-header') };
  const payload = parseObject(decode(second));
  if (payload === undefined) return { ok: false, ...refuse('jws-payload') };
  const signature = decode(third);
  if (signature === undefined) return { ok: false, ...refuse('jws-signature') };
  const algorithm = ALGORITHMS.get(header['alg']);
  if (algorithm === undefined) return { ok: false, ...refuse('jws-alg') };
  if ('crit' in header) return { ok: false, ...refuse('jws-crit') };
  const signingInput = Buffer.from(text.slice(0, first.length + 1 + second.length), 'latin1');
  return { ok: true, algorithm, header, payload, signingInput, signature };
}
