import type { IncomingMessage } from 'node:http';
import { lines, single } from '#shared/http/fields.ts';
import { clientAddress, type TrustedProxies } from '#shared/http/forwarded.ts';
import { ORIGIN, type AuthRequest } from './auth/scheme.ts';

/** What a request asks for, as the door that it came through knows it. */
export type Asked = Pick<AuthRequest, 'method' | 'target' | 'origin'>;

/** A request as authentication reads it. */
export function authRequest(
  { rawHeaders, socket }: IncomingMessage,
  asked: Asked,
  proxies: TrustedProxies,
): AuthRequest {
  const peer = socket.remoteAddress ?? '';
  return {
    ...asked,
    at: ORIGIN,
    field: (name) => single(rawHeaders, name),
    lines: (name) => lines(rawHeaders, name),
    peer: {
      address: clientAddress(peer, lines(rawHeaders, 'x-forwarded-for'), proxies),
      connection: socket,
      trusted: proxies.has(peer),
    },
  };
}

/**
 * The origin that a proxy was asked for, by X-Forwarded-Proto and X-Forwarded-Host; undefined when
 * they are missing or malformed. To be asked of trusted peers only. Throws `BadRequest` for two of one.
 */
export function forwardedOrigin(rawHeaders: readonly string[]): string | undefined {
  const scheme = single(rawHeaders, 'x-forwarded-proto') ?? '';
  const host = single(rawHeaders, 'x-forwarded-host') ?? '';
  const url = `${scheme}://${host}`;
  const plain = /^https?$/i.test(scheme) && /^[A-Za-z0-9._:[\]-]+$/.test(host);
  return plain && URL.canParse(url) ? new URL(url).origin : undefined;
}
