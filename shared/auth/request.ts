import type { IncomingMessage } from 'node:http';
import { lines, single } from '#shared/http/fields.ts';
import { clientAddress, type TrustedProxies } from '#shared/http/forwarded.ts';
import { ORIGIN, type AuthRequest } from './scheme.ts';

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
