import { type SignedBy, signedRequest, type ToSign } from '#shared/signatures/signed-request.ts';

/**
 * Returns the fields of a request that carries an access token of GNAP and proves its key (RFC 9635 sections 7.2 and
 * 7.3.1). `created`: seconds since the epoch.
 */
export function gnapFields(
  token: string,
  { method, url }: Pick<ToSign, 'method' | 'url'>,
  by: SignedBy,
  created: number,
): Readonly<Record<string, string>> {
  const fields = { Authorization: `GNAP ${token}` };
  return { ...fields, ...signedRequest({ method, url, fields }, by, { tag: 'gnap', created }) };
}
