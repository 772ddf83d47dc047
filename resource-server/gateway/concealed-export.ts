import { AUTH_EXPORT, formatAuthExport } from '#shared/auth/schemes/concealed/auth-export.ts';
import { readProof } from '#shared/auth/schemes/concealed/credentials.ts';
import { EXPORTED, exporterContext, LABEL } from '#shared/auth/schemes/concealed/signed.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { exporterOf } from '#shared/server/endpoints/exporter.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Lines } from '../forwarding/fields.ts';

/**
 * Returns the field that an application behind us needs for Concealed, since the TLS connection ends here (RFC 9729
 * section 6). Returns no field for other credentials, or without TLS 1.3. `url`: the origin that the client signed.
 */
export function concealedExport(request: AnyRequest, url: string): Lines {
  const { authorization = '' } = request.headers;
  const credentials = parseCredentials(authorization);
  if (credentials?.scheme !== 'concealed') return [];
  const proof = readProof(credentials);
  const exporter = exporterOf(request);
  if (proof === undefined || exporter === undefined) return [];
  const output = exporter(LABEL, exporterContext({ ...proof, url }), EXPORTED);
  return [[AUTH_EXPORT, formatAuthExport(output)]];
}
