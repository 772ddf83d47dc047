import type { Context } from 'koa';
import { relyingPartyId } from '#shared/config/relying-party.ts';
import type { PagesServer } from '../../base/server.ts';
import type { View } from '../frame/view.ts';
import { createLastWay } from './last-way.ts';
import { CHALLENGE_LIFE, createChallenges } from './challenge.ts';
import type { SignInProps } from '../views/sign-in.ts';

/**
 * Returns the props with which a sign-in page asks for any person's passkey (WebAuthn section 5.5). They are empty if
 * browsers cannot use passkeys for this issuer.
 */
export function createAskForPasskey(
  server: PagesServer,
): (ctx: Context, view: View) => Pick<SignInProps, 'passkey' | 'last'> {
  const challenges = createChallenges(server);
  const rpId = relyingPartyId(server.config);
  if (rpId === undefined) return () => ({});
  const { wasPasskey } = createLastWay(server);
  return (ctx, { csrf }) => {
    const challenge = challenges.make('get', csrf);
    const options = { challenge, rpId, timeout: CHALLENGE_LIFE, userVerification: 'required' };
    return { passkey: JSON.stringify(options), ...(wasPasskey(ctx) && { last: 'passkey' }) };
  };
}
