/**
 * A PrivateToken client made with @cloudflare/privacypass-ts, which takes the steps of the library's
 * `fetchToken`.
 */
import {
  getIssuerUrl,
  type PrivacyPassClient,
  privateVerif,
  publicVerif,
  sendTokenRequest,
  type Token,
  TOKEN_TYPES,
  WWWAuthenticateHeader,
} from '@cloudflare/privacypass-ts';

export interface LibraryType {
  readonly type: number;
  readonly name: string;
  /** Makes a client for one token. */
  newClient(): PrivacyPassClient;
}

export const VOPRF: LibraryType = {
  type: TOKEN_TYPES.VOPRF.value,
  name: 'VOPRF (P-384, SHA-384)',
  newClient: () => new privateVerif.Client(),
};

export const BLIND_RSA: LibraryType = {
  type: TOKEN_TYPES.BLIND_RSA.value,
  name: 'blind RSA (2048)',
  newClient: () => new publicVerif.Client(publicVerif.BlindRSAMode.PSS),
};

/** Rows for `describe.each`. */
export const TYPES = [VOPRF, BLIND_RSA];

/** Sends a TokenRequest; resolves to the TokenResponse, and rejects if the issuer refuses. */
export type SendRequest = (bytes: Uint8Array, url: string) => Promise<Uint8Array>;

/** Sends token requests with this Authorization field. */
export const sendAs =
  (authorization: string): SendRequest =>
  (bytes, url) =>
    sendTokenRequest(bytes, url, new Headers({ authorization }));

/** Returns the challenges that the library finds in an answer. */
export function offersIn({ headers }: Response): readonly WWWAuthenticateHeader[] {
  return WWWAuthenticateHeader.parse(headers.get('www-authenticate') ?? '');
}

/** The challenge of a type in the answer to a request without credentials. */
export async function offerAt(url: string, type: number): Promise<WWWAuthenticateHeader> {
  const answer = await fetch(url);
  await answer.arrayBuffer();
  const found = offersIn(answer).find(({ challenge }) => challenge.tokenType === type);
  if (found === undefined) throw new Error(`${answer.status}, no challenge of type ${type}`);
  return found;
}

/** Gets a token for a challenge. */
export async function obtain(
  { newClient }: LibraryType,
  { challenge, tokenKey }: WWWAuthenticateHeader,
  send: SendRequest,
): Promise<Token> {
  const client = newClient();
  const request = await client.createTokenRequest(challenge, tokenKey);
  const response = await send(request.serialize(), await getIssuerUrl(challenge.issuerName));
  return client.finalize(client.deserializeTokenResponse(response));
}

/** Sends a request with this Authorization field. */
export function redeem(url: string, authorization: string): Promise<Response> {
  return fetch(url, { headers: { authorization } });
}
