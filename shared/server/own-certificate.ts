import { TLSSocket } from 'node:tls';
import type { AuthRequest } from '#shared/auth/scheme.ts';
import type { AnyRequest } from './message.ts';

/** The server's certificate on the very connection of a request, in DER; undefined unless TLS ends here. */
export function ownCertificate({ socket }: Pick<AnyRequest, 'socket'>): AuthRequest['certificate'] {
  if (!(socket instanceof TLSSocket)) return undefined;
  return () => {
    const certificate = socket.getX509Certificate();
    if (certificate === undefined) throw new Error('a connection without a certificate');
    return certificate.raw;
  };
}
