import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { findAccess, recordAccess } from './access/grants.ts';
import { changeProfile } from './change-profile.ts';
import { testPeople } from './directory.fixture.ts';
import { addPerson } from './people.ts';

const CLIENT = {
  client_id: 'payroll',
  client_name: 'Payroll',
  grant_types: ['authorization_code'],
  token_endpoint_auth_method: 'none',
  scope: 'openid',
  allow_groups: ['staff'],
  created_at: 0,
} as const;

test('a grant that another server gave before the commit ends, too', async () => {
  const { store, stores } = await testPeople();
  const groups = ['staff'];
  const { id } = await addPerson(store, { name: 'alice', profile: { groups } });
  await stores.clients.add(CLIENT);
  const access = { accountId: id, clientId: 'payroll', generation: 0, clientGeneration: 0 };
  const grant = { ...access, since: store.clock.now() };
  // PostgreSQL: the transaction does not see the grant, and who gives the grant sees the group.
  const together: Stores['together'] = async (work) => {
    const result = await stores.together(work);
    await recordAccess(store, { ...grant, grantId: 'meanwhile' }, 600);
    return result;
  };
  await recordAccess(store, { ...grant, grantId: 'before' }, 600);
  await changeProfile(
    { ...store, stores: { ...stores, together } },
    'alice',
    (person) => ({ ...person, profile: {} }),
    { kind: 'person.changed', what: 'profile' },
  );
  expect(await findAccess(store, 'before')).toBeUndefined();
  expect(await findAccess(store, 'meanwhile')).toBeUndefined();
});

test('the time of the last change of a profile is kept, and no other change is one', async () => {
  const { store: people, stores } = await testPeople();
  const clock = new ManualClock(people.clock.now());
  const store = { ...people, stores, clock };
  const profile = { groups: ['staff'] };
  const added = await addPerson(store, { name: 'alice', profile });
  const change = (edit: Parameters<typeof changeProfile>[2]) =>
    changeProfile(store, 'alice', edit, { kind: 'person.changed', what: 'profile' });
  const at = added.created_at;
  clock.advance(5);
  const disabled = await change((person) => ({ ...person, disabled: true }));
  const same = await change((person) => ({ ...person, profile: { ...profile } }));
  expect([added, disabled, same].map((each) => each.profile_changed_at)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const changed = await change((person) => ({ ...person, profile: { groups: ['board'] } }));
  expect(changed.profile_changed_at).toBe(at + 5000);
  clock.advance(5);
  const enabled = await change((person) => ({ ...person, disabled: false }));
  expect(enabled.profile_changed_at).toBe(at + 5000);
  const { profile: _gone, ...without } = enabled;
  expect((await change(() => without)).profile_changed_at).toBe(at + 10_000);
});
