import { TLSSocket } from 'node:tls';
import type { AuthRequest } from '#shared/auth/scheme.ts';
import type { AnyRequest } from '../message/message.ts';

/**
 * Keying material of the connection of this request (RFC 8446 section 7.5). Undefined unless TLS 1.3 ends here: with
 * earlier versions two connections may have the same material (RFC 7627), and behind a proxy this connection is not the
 * client's.
 */
export function exporterOf({ socket }: Pick<AnyRequest, 'socket'>): AuthRequest['exporter'] {
  if (!(socket instanceof TLSSocket) || socket.getProtocol() !== 'TLSv1.3') return undefined;
  return (label, context, length) => socket.exportKeyingMaterial(length, label, context);
}
