import { createHash } from 'node:crypto';
import { elementContent, readElements, SEQUENCE } from '#shared/base/der.ts';
import type { AuthRequest } from '../../scheme.ts';

/** The host validation method, which binds an exchange to its host or certificate (RFC 8120 section 7). */
export interface Validation {
  readonly method: 'host' | 'tls-server-end-point';
  readonly vh: () => Buffer;
}

const oids = (hash: string, ...ids: readonly string[]) =>
  ids.map((id) => ({ hash, id: Buffer.from(id, 'hex') }));

/** The OIDs of RSA and ECDSA signatures by their hash, and of the hashes, which RSASSA-PSS names (RFC 4055). */
const LONGER_HASHES = [
  ...oids('sha384', '2a864886f70d01010c', '2a8648ce3d040303', '608648016503040202'),
  ...oids('sha512', '2a864886f70d01010d', '2a8648ce3d040304', '608648016503040203'),
];

/** Hashes a certificate with the hash of its signature, but at least SHA-256 (RFC 5929 section 4.1). */
export function endPoint(certificate: Buffer): Buffer {
  const whole = elementContent(certificate, SEQUENCE);
  const signed = whole && readElements(whole)?.[1]?.content;
  const { hash = 'sha256' } = LONGER_HASHES.find(({ id }) => signed?.includes(id)) ?? {};
  return createHash(hash).update(certificate).digest();
}

/** Returns the host and port of the configured origin, never of the Host field; the port is always written. */
function hostOf(origin: string): Buffer {
  const { protocol, hostname, port } = new URL(origin);
  return Buffer.from(`${protocol}//${hostname}:${port || 80}`);
}

/**
 * Returns the only validation method for a request: by the certificate that its client sees over TLS, otherwise by
 * the host. `configured`: the certificate of a proxy that terminates TLS, in DER. Returns undefined if the method
 * needs a certificate that is unknown.
 */
export function validationOf(
  request: Pick<AuthRequest, 'origin' | 'peer' | 'field' | 'certificate'>,
  configured: Buffer | undefined,
): Validation | undefined {
  const { origin, peer } = request;
  if (origin.startsWith('http:')) return { method: 'host', vh: () => hostOf(origin) };
  const behind = peer.trusted && request.field('x-forwarded-proto') !== undefined;
  const certificate = behind ? configured && (() => configured) : request.certificate;
  return certificate && { method: 'tls-server-end-point', vh: () => endPoint(certificate()) };
}
