import { randomId, type Random } from '#shared/base/random.ts';
import { epochSeconds, type Clock } from '#shared/base/clock.ts';
import type { DocumentNetwork } from '#shared/client-documents/fetch-document.ts';
import { NoAnswer } from '#shared/client/send.ts';
import { sendWherePermitted } from '#shared/client/send-where-permitted.ts';
import type { Config } from '#shared/config/schema.ts';
import type { KeySet } from '#shared/keys/signing-key-ring.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import type { Logout } from '#shared/stores/logout/logouts.ts';
import { sessionId } from '../base/session-id.ts';
import { signedToken } from '../base/signed-token.ts';

/** Milliseconds for one request. */
const PATIENCE = 2000;
/** Seconds for which a logout token is valid (section 2.4 of the standard recommends two minutes at most). */
const LIFETIME = 120;
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

export interface LogoutSender {
  readonly config: Pick<Config, 'issuer'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly documentNetwork: DocumentNetwork;
  signingKeys(): Promise<KeySet>;
}

/** Why a client did not accept a logout token. */
export interface Unsent {
  readonly reason: string;
  /** Whether the client works and refused this token alone (section 2.8), such as for a session that it does not know. */
  readonly isRefused: boolean;
}

/**
 * Sends a logout token to the logout URL of a client (OpenID Connect Back-Channel Logout 1.0 section 2.5). Resolves to
 * undefined if the client accepted it, otherwise to what went wrong. No redirect is followed. The URL of a client with a
 * document leads to public addresses only; an operator may register any address.
 */
export async function sendLogout(
  server: LogoutSender,
  client: ClientRecord & { readonly backchannel_logout_uri: string },
  { accountId: sub, uid }: Logout,
): Promise<Unsent | undefined> {
  const { config, clock, random, documentNetwork } = server;
  const { client_id: aud, id_token_signed_response_alg: alg = 'ES256' } = client;
  const iat = epochSeconds(clock);
  const { jwt } = await signedToken(await server.signingKeys(), alg, 'logout+jwt', {
    iss: config.issuer,
    aud,
    iat,
    exp: iat + LIFETIME,
    jti: randomId(random),
    events: { [EVENT]: {} },
    sub,
    ...(uid !== undefined && { sid: sessionId(uid, aud) }),
  });
  const message = {
    method: 'POST',
    url: client.backchannel_logout_uri,
    fields: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ logout_token: jwt }).toString(),
  };
  const anywhere = { concerning: () => () => true };
  try {
    const { status } = await sendWherePermitted(message, {
      ...documentNetwork,
      ...(client.document === undefined && { destinations: anywhere }),
      milliseconds: PATIENCE,
    });
    // Section 2.8: some frameworks answer 204 for 200.
    if (status === 200 || status === 204) return undefined;
    // Section 2.2 permits an application to require `sid`. Its sessions have logouts with `sid`.
    if (uid === undefined && status === 400) return undefined;
    return { reason: `the application answered ${status}`, isRefused: status === 400 };
  } catch (error) {
    if (error instanceof NoAnswer) return { reason: error.message, isRefused: false };
    throw error;
  }
}
