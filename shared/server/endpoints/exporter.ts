import { TLSSocket } from 'node:tls';
import type { AuthRequest } from '#shared/auth/scheme.ts';
import type { AnyRequest } from '../message/message.ts';

/**
 * Returns keying material of the request's connection (RFC 8446 section 7.5). Undefined unless this server terminates
 * TLS 1.3: with earlier versions two connections may have the same material (RFC 7627), and behind a proxy this
 * connection is not the client's.
 */
export function exporterOf({ socket }: Pick<AnyRequest, 'socket'>): AuthRequest['exporter'] {
  if (!(socket instanceof TLSSocket) || socket.getProtocol() !== 'TLSv1.3') return undefined;
  return (label, context, length) => socket.exportKeyingMaterial(length, label, context);
}
