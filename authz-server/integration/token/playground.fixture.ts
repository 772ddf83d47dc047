import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { PLAYGROUND_CLIENT, playgroundSigningKey } from '#shared/config/playground-client.ts';
import type { Answered, TestAuthz } from '../authz.fixture.ts';

/** An assertion of the playground's client, or of whoever has that key. */
export const assertion = (
  at: TestAuthz,
  {
    key = playgroundSigningKey(at.master),
    audience = at.config.issuer,
    claims = {},
  }: {
    readonly key?: KeyObject;
    readonly audience?: string | string[];
    readonly claims?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<string> =>
  new SignJWT({
    iss: PLAYGROUND_CLIENT,
    sub: PLAYGROUND_CLIENT,
    jti: crypto.randomUUID(),
    ...claims,
  })
    .setProtectedHeader({ alg: 'Ed25519', typ: 'client-authentication+jwt' })
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime('1 minute')
    .sign(key);

/** Sends a form as the playground's client. */
export async function asPlayground(
  at: TestAuthz,
  path: string,
  form: Readonly<Record<string, string>>,
): Promise<Answered> {
  return at.post(path, {
    ...form,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await assertion(at),
  });
}
