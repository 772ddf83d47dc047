import { TLSSocket } from 'node:tls';
import type { AuthRequest } from '#shared/auth/scheme.ts';
import { BadRequest } from '#shared/http/fields.ts';
import type { AnyRequest } from '../message/message.ts';

/**
 * The server's certificate on the very connection of a request, in DER; undefined unless TLS ends here. It throws
 * `BadRequest` when the client has left meanwhile.
 */
export function ownCertificate({ socket }: Pick<AnyRequest, 'socket'>): AuthRequest['certificate'] {
  if (!(socket instanceof TLSSocket)) return undefined;
  return () => {
    const certificate = socket.destroyed ? undefined : socket.getX509Certificate();
    if (certificate === undefined) throw new BadRequest('The connection ended early.');
    return certificate.raw;
  };
}
