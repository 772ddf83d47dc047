import { expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
import { openGnap, READ, REDIRECT } from './gnap.fixture.ts';

const RULES = ['role="admin" if group "admins"', 'tenant="acme"', 'sub="root"', 'access="all"'];

test('the token and the ID token of a person have the claims of the rules', async () => {
  await using gnap = await openGnap();
  await setProfile(gnap.flow.authz, 'alice', () => ({
    groups: ['admins'],
  }));
  await gnap.register(gnap.key, { claim_rules: RULES });
  const asked = await gnap.ask({
    ...READ,
    subject: { assertion_formats: ['id_token'] },
    interact: REDIRECT,
  });
  const back = await gnap.allow(asked);
  const { body } = await gnap.proceed(asked, {
    interact_ref: back.searchParams.get('interact_ref'),
  });
  const { id } = gnap.flow.people.alice;
  const told = { role: 'admin', tenant: 'acme', sub: id };
  expect(decodeJwt(body.access_token.value)).toMatchObject({ ...told, access: ['photos:read'] });
  expect(decodeJwt(body.subject.assertions[0]?.value ?? '')).toMatchObject(told);
});

test('a machine gets what is the same for everybody', async () => {
  await using gnap = await openGnap();
  const { client_id } = await gnap.register(gnap.key, { claim_rules: RULES });
  const { body } = await gnap.ask(READ);
  const claims = decodeJwt(body.access_token.value);
  expect(claims).toMatchObject({ tenant: 'acme', sub: client_id, access: ['photos:read'] });
  expect(claims).not.toHaveProperty('role');
});
