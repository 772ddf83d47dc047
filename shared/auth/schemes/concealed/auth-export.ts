import { EXPORTED } from './signed.ts';

/**
 * The field in which a TLS-terminating proxy sends the output of its exporter to the server behind it (RFC 9729
 * section 6.2).
 */
export const AUTH_EXPORT = 'Concealed-Auth-Export';

/** Returns the field's value: a Byte Sequence (RFC 9651 section 3.3.5) without parameters. */
export function formatAuthExport(output: Buffer): string {
  return `:${output.toString('base64')}:`;
}

const BYTE_SEQUENCE = /^:([A-Za-z0-9+/]*={0,2}):$/;

/** Reads the field's value. Returns undefined unless the value is canonical and as long as the exporter's output. */
export function parseAuthExport(value: string): Buffer | undefined {
  const [, base64 = ''] = BYTE_SEQUENCE.exec(value) ?? [];
  const output = Buffer.from(base64, 'base64');
  return output.length === EXPORTED && formatAuthExport(output) === value ? output : undefined;
}
