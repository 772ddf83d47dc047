import { BadKey, clientIdOf, readKey } from '#shared/gnap/key.ts';
import type { JsonObject } from '#shared/jose/compact-jws.ts';
import type { ClientRecord, RegisteredKey } from '#shared/stores/oauth/clients.ts';
import { Failure } from '../arguments/command.ts';
import { fileContent } from '../arguments/read-file.ts';

type GnapMembers = Pick<ClientRecord, 'client_id' | 'token_endpoint_auth_method' | 'gnap'>;

/**
 * The members of a client of GNAP, whose key is its identity: a public JWK that signs its requests, or a certificate in
 * PEM that it shows in TLS. Throws `Failure`.
 */
export async function gnapClient(file: string, bearer: boolean): Promise<GnapMembers> {
  const text = (await fileContent(file)).toString();
  const given = text.includes('-----BEGIN CERTIFICATE-----')
    ? { proof: 'mtls', cert: text }
    : { proof: 'httpsig', jwk: parse(text) };
  try {
    const key = readKey(given);
    const registered: RegisteredKey =
      key.proof === 'mtls'
        ? { proof: 'mtls', 'cert#S256': key.thumbprint }
        : { proof: 'httpsig', jwk: given.jwk as JsonObject };
    return {
      client_id: clientIdOf(key),
      token_endpoint_auth_method: 'none',
      gnap: { key: registered, ...(bearer && { bearer }) },
    };
  } catch (error) {
    throw error instanceof BadKey
      ? new Failure(`${file} is neither a public JWK nor a certificate in PEM: ${error.message}`)
      : error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
