import { expect } from '@jest/globals';
import type { Play } from './play.ts';

/** The claims of each scope (OpenID Connect Core 1.0 section 5.4). */
const CLAIMS = {
  profile:
    'name family_name given_name middle_name nickname preferred_username profile picture website gender birthdate zoneinfo locale updated_at',
  email: 'email email_verified',
  address: 'address',
  phone: 'phone_number phone_number_verified',
} as const;

type Scope = keyof typeof CLAIMS;

/** The modules about userinfo and the claims of scopes. */
export const claimSteps = (play: () => Play) => {
  const userinfo = async (how: 'get' | 'post-header' | 'post-body') => {
    const { site, client } = play();
    const { tokens } = await client.signIn(site.visitor());
    const { status, headers, body } = await client.userinfo(tokens, how);
    expect([status, headers.get('content-type'), body['sub']]).toEqual([
      200,
      'application/json',
      site.person.id,
    ]);
  };

  /** Expects the claims of the scopes at userinfo, and no address in the ID token. */
  const scopes = async (asked: readonly Scope[]) => {
    const { site, client } = play();
    const { tokens, claims } = await client.signIn(site.visitor(), {
      scope: ['openid', ...asked].join(' '),
    });
    const { body } = await client.userinfo(tokens);
    const all = asked.flatMap((scope) => CLAIMS[scope].split(' '));
    expect(Object.keys(body).toSorted()).toEqual(['sub', ...all].toSorted());
    expect(claims).not.toHaveProperty('email');
  };

  return {
    'oidcc-userinfo-get': () => userinfo('get'),
    'oidcc-userinfo-post-header': () => userinfo('post-header'),
    'oidcc-userinfo-post-body': () => userinfo('post-body'),
    'oidcc-scope-profile': () => scopes(['profile']),
    'oidcc-scope-email': () => scopes(['email']),
    'oidcc-scope-address': () => scopes(['address']),
    'oidcc-scope-phone': () => scopes(['phone']),
    'oidcc-scope-all': () => scopes(['profile', 'email', 'address', 'phone']),

    async 'oidcc-alternate-happy-flow'() {
      const { site, client } = play();
      const usual = client.request({ scope: 'email openid' });
      const request = new URLSearchParams([...usual].toReversed());
      const { answer } = await client.answer(site.visitor(), request);
      const { tokens } = await client.redeemed(answer, request);
      expect((await client.userinfo(tokens)).body).toHaveProperty('email');
    },

    async 'oidcc-claims-essential'() {
      const { site, client } = play();
      const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
      const { tokens } = await client.signIn(site.visitor(), { claims });
      const { body } = await client.userinfo(tokens);
      expect(body).toEqual({ sub: site.person.id, name: 'Alice Liddell' });
    },
  };
};
