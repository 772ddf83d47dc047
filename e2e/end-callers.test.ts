import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { BROWSER, PERSON } from '../authz-server/integration/pages/logout-ends.fixture.ts';
import { callersIn, endCallers } from './end-callers.ts';

const ROOT = new URL('..', import.meta.url).pathname;

/** Tests of ends that are no row of the tables, by their file. */
const TESTS = {
  'authz-server/integration/pages/logouts.test.ts': [
    'a removed client is not told, since it has no logout URL any more',
    'for each grant, when an operator ends the client, also if the command was killed',
    'not if the person allows a request twice',
  ],
  'authz-server/integration/pages/give-grant.test.ts': [
    'a grant for another description of the client is replaced, and the application is not told of its end',
  ],
  'authz-server/integration/gnap/logouts.test.ts': [
    'RFC 9635 section 5.4: a client that ends its grant is told that the session has ended',
  ],
  'authz-server/integration/sources/logout.test.ts': [
    'tells the applications that the sign-in has opened',
  ],
  'authz-server/integration/sources/linking.test.ts': [
    'and the applications that the account has opened are told',
  ],
  'e2e/flows/logout-apply.test.ts': [
    'a client that becomes one for other people',
    'a person whom the file no longer declares is disabled',
    'a client that the file no longer declares is not told, since its logout URL is gone',
  ],
} as const;

const [REMOVED, CLIENT, TWICE] = TESTS['authz-server/integration/pages/logouts.test.ts'];
const [DESCRIPTION] = TESTS['authz-server/integration/pages/give-grant.test.ts'];
const [GNAP] = TESTS['authz-server/integration/gnap/logouts.test.ts'];
const [SOURCE] = TESTS['authz-server/integration/sources/logout.test.ts'];
const [UNLINKED] = TESTS['authz-server/integration/sources/linking.test.ts'];
const [RULES, DISABLED, UNDECLARED] = TESTS['e2e/flows/logout-apply.test.ts'];

/** Why an end needs no test of its own. */
const NEVER = {
  part: 'it is a part of an end that has a row',
  store: 'it passes the call on, and the contract of the stores tests it',
  fresh: 'the end came while the grant or sign-in was made, and no application has a session by it',
  device: 'a device has no session in a browser',
  space: 'a space asks at each request and has no logout URL',
} as const;

/** For each use of a function that ends something, in the order of the source: its row, its test or why it has none. */
const CALLERS: Readonly<Record<string, readonly string[]>> = {
  'authz-server/consent/give-grant.ts discardGrant': [DESCRIPTION],
  'authz-server/consent/give-grant.ts endGrant': [NEVER.fresh],
  'authz-server/engine/adapter.ts endGrant': [
    'the person signs out',
    'a code is redeemed twice',
    'a code is redeemed twice',
  ],
  'authz-server/engine/grants/existing-grant.ts endGrant': [
    'the application is no longer of the operator',
  ],
  'authz-server/engine/grants/grant-unasked.ts endGrant': [NEVER.fresh],
  'authz-server/engine/refresh/refresh.ts endGrant': [
    'a replaced refresh token is used again',
    'the application revokes its refresh token',
  ],
  'authz-server/engine/storage/sign-in-events.ts endSignIn': [
    'the application asks for the sign-out',
  ],
  'authz-server/gnap/continuation.ts endGrant': [NEVER.fresh, GNAP],
  'authz-server/logout/logout-chore.ts clearClient': [CLIENT],
  'authz-server/logout/logout-chore.ts endForbidden': [
    'an operator names other people for the application',
  ],
  'authz-server/pages/account/endings.ts endApplication': [
    'the person ends the application on the account page',
  ],
  'authz-server/pages/account/endings.ts endEverything': [
    'the person ends everything on the account page',
  ],
  'authz-server/pages/account/endings.ts endGrant': [
    'the person ends the grant on the account page',
  ],
  'authz-server/pages/account/endings.ts endSignIn': [
    'the person ends the sign-in on the account page',
  ],
  'authz-server/pages/device/device-decision.ts discardGrant': [NEVER.device],
  'authz-server/pages/gnap/interact.ts discardGrant': [NEVER.fresh],
  'authz-server/pages/interaction/interaction.ts discardGrant': [TWICE],
  'authz-server/pages/interaction/interaction.ts endSignIn': [
    'another person signs in with the same browser',
  ],
  'authz-server/pages/own-data/removal.ts endAhead': ['an operator removes the person'],
  'authz-server/pages/sign-in/session.ts endSignIn': ['the person signs out'],
  'authz-server/pages/sign-in/set-up.ts clearEarlier': ['the person has a second factor'],
  'resource-server/sign-in/sign-out.ts endGrant': [NEVER.space],
  'shared/cli/declared/client-items.ts clearClient': [UNDECLARED],
  'shared/cli/declared/client-items.ts endForbidden': [RULES],
  'shared/cli/declared/client-items.ts retireClient': [UNDECLARED],
  'shared/cli/declared/people-items.ts endEverything': [DISABLED],
  'shared/operations/clients/client-end.ts endClient': [CLIENT],
  'shared/operations/clients/client-end.ts endGrant': ['an operator ends the grant of the client'],
  'shared/operations/clients/client-remove.ts clearClient': [REMOVED],
  'shared/operations/clients/client-remove.ts raise': [REMOVED, REMOVED],
  'shared/operations/clients/client-remove.ts retireClient': [REMOVED],
  'shared/operations/clients/client-set.ts endForbidden': [
    'an operator names other people for the application',
  ],
  'shared/operations/people/user-end.ts endApplication': [
    'an operator ends the application of the person',
  ],
  'shared/operations/people/user-end.ts endEverything': ['an operator ends all of the person'],
  'shared/operations/people/user-end.ts endGrant': ['an operator ends the grant of the person'],
  'shared/operations/people/user-end.ts endSignIn': ['an operator ends the sign-in of the person'],
  'shared/operations/people/user-second-factor.ts endEverything': [
    'an operator removes the second factor of the person',
  ],
  'shared/people/access/applications.ts endGrant': [
    'the person ends the application on the account page',
  ],
  'shared/people/access/everything.ts clearEarlier': [NEVER.part],
  'shared/people/access/everything.ts raise': [
    'an operator ends all of the person',
    'an operator disables the person',
  ],
  'shared/people/access/everything.ts removeByGrant': [NEVER.part],
  'shared/people/access/everything.ts removeSignIns': [NEVER.part],
  'shared/people/access/grants.ts endGrant': [
    'the person has more grants than are kept',
    NEVER.part,
  ],
  'shared/people/access/grants.ts remove Access': [DESCRIPTION],
  'shared/people/access/grants.ts removeByGrant': [NEVER.part],
  'shared/people/access/grants.ts revoke': [NEVER.part],
  'shared/people/access/of-client.ts clearClient': [CLIENT],
  'shared/people/access/of-client.ts endGrant': [
    'an operator names other people for the application',
  ],
  'shared/people/access/of-client.ts raise': [CLIENT],
  'shared/people/access/of-client.ts removeByGrant': [NEVER.part],
  'shared/people/access/sign-ins.ts endGrant': ['the person signs out'],
  'shared/people/access/sign-ins.ts endSignIn': [
    'the person has more sign-ins than are kept',
    NEVER.fresh,
  ],
  'shared/people/access/sign-ins.ts remove SignIn': [NEVER.part, NEVER.part],
  'shared/people/access/sign-ins.ts removeSignIns': [NEVER.part],
  'shared/people/change-password.ts endEverything': [
    'the person changes the password on the account page',
  ],
  'shared/people/change-profile.ts endGrant': ['an operator takes the group from the person'],
  'shared/people/linked-identities.ts endGrant': [UNLINKED],
  'shared/people/linked-identities.ts endSignIn': [SOURCE],
  'shared/people/people.ts endAhead': [
    'the person has another password',
    'an operator disables the person',
  ],
  'shared/people/people.ts endEverything': ['the person has another password'],
  'shared/people/remove-passkey.ts endGrant': [
    'the passkey of a grant that outlives the browser is removed',
  ],
  'shared/people/remove-passkey.ts endSignIn': ['the passkey of the sign-in is removed'],
  'shared/people/remove-person.ts endEverything': ['an operator removes the person'],
  'shared/server/metrics/of-stores.ts raise': [NEVER.store],
  'shared/stores/revocation/acknowledged.ts raise': [NEVER.store],
  'shared/stores/sql/credentials/second-factors.ts raiseIn': ['the person has a second factor'],
  'shared/stores/sql/oauth/artefacts.ts removeByGrant': [NEVER.store, NEVER.store],
  'shared/stores/sql/revocation/revocations.ts raiseIn': [NEVER.store],
};

/** Built from parts, so that this file has no such import itself. */
const imported = (path: string, name = 'endGrant') => `import { ${name} } from '${path}';`;

describe('places in the source that end something', () => {
  test('each place has a test of the logout token that it causes, or a reason', () => {
    const counted = Object.entries(CALLERS).map(([place, why]) => [place, why.length]);
    expect(endCallers()).toEqual(Object.fromEntries(counted));
  });

  test('each of these tests exists', () => {
    const rows = [...Object.keys(BROWSER), ...Object.keys(PERSON)];
    const tests = Object.entries(TESTS).flatMap(([file, titles]) =>
      titles.filter((title) => readFileSync(ROOT + file, 'utf8').includes(`test('${title}'`)),
    );
    const known = new Set([...rows, ...tests, ...Object.values(NEVER)]);
    expect(
      Object.values(CALLERS)
        .flat()
        .filter((one) => !known.has(one)),
    ).toEqual([]);
  });

  test.each([
    [`${imported('./grants.ts')}\nawait endGrant(store, id);`, { 'a.ts endGrant': 1 }],
    [`${imported('./any.ts')}\nconst end = { end: endGrant };`, { 'a.ts endGrant': 1 }],
    ['await stores.revocations.raise(kind, id, until);', { 'a.ts raise': 1 }],
    ["await changing(store, 'revocations').revoke('grant', id, until);", { 'a.ts revoke': 1 }],
    [`// endGrant\n${imported('./grants.ts')}\n/* endGrant */`, {}],
    [`${imported('../gnap/ask.ts')}\nawait endGrant(client, it);`, {}],
    ['const view = { endGrant: texts.endGrant };', {}],
  ])('in %j', (source, found) => {
    expect(callersIn('a.ts', source)).toEqual(found);
  });

  test('a new name for such a function is refused', () => {
    const source = `${imported('./grants.ts', 'endGrant as end')}\nawait end(store, id);`;
    expect(() => callersIn('a.ts', source)).toThrow('renames endGrant');
  });
});
