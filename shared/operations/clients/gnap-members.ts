import { BadKey, clientIdOf, readKey } from '#shared/gnap/key.ts';
import type { JsonObject } from '#shared/jose/compact-jws.ts';
import type {
  ClientRecord,
  GnapRegistration,
  RegisteredKey,
} from '#shared/stores/oauth/clients.ts';
import { InputError } from '../operation.ts';
import { jsonIn } from './json-in.ts';
import { said } from '#shared/refusals/operations.ts';

export type GnapMembers = Required<
  Pick<ClientRecord, 'client_id' | 'token_endpoint_auth_method' | 'gnap'>
>;

/**
 * Returns the members of a GNAP client, which its key identifies: a public JWK that signs its requests, or a
 * certificate in PEM that it uses in TLS. Throws `InputError`.
 */
export function gnapMembers(text: string, bearer: boolean): GnapMembers {
  const given = text.includes('-----BEGIN CERTIFICATE-----')
    ? { proof: 'mtls', cert: text }
    : { proof: 'httpsig', jwk: jsonIn(text) };
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
    if (!(error instanceof BadKey)) throw error;
    throw new InputError(['gnap_key'], said('gnap-key', { why: error.words }));
  }
}

/** Returns the members of a GNAP client with a stored key. Throws `InputError`. */
export function keptGnapMembers({ key, bearer }: GnapRegistration): GnapMembers {
  try {
    const client_id = clientIdOf(readKey(key));
    return {
      client_id,
      token_endpoint_auth_method: 'none',
      gnap: { key, ...(bearer && { bearer }) },
    };
  } catch (error) {
    if (!(error instanceof BadKey)) throw error;
    throw new InputError(['gnap'], said('gnap-key-kept', { why: error.words }));
  }
}
