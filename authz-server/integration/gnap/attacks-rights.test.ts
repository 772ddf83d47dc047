import { describe, expect, test } from '@jest/globals';
import {
  ask,
  BOTH,
  decide,
  given,
  gnap,
  idOf,
  manage,
  open,
  refusedWith,
  refOf,
} from './attacks.fixture.ts';
import { PHOTOS, READ, REDIRECT, type Told } from './gnap.fixture.ts';

const album = (identifier: string, ...actions: string[]) => ({
  type: 'photo-api',
  actions,
  identifier,
});
const asking = (...access: unknown[]) => ({ access_token: { access } });
const change = (told: Told, body: object) => gnap.proceed(told, body, 'PATCH');

/** Makes a change that a person decides about, with these items ticked. */
async function decided(
  told: Told,
  body: object,
  name: 'alice' | 'bob',
  item?: string,
): Promise<Told> {
  const asked = await change(told, { ...body, interact: REDIRECT });
  const browser = await gnap.flow.signedIn(name);
  const page = await open(asked, browser);
  const ref = refOf(await decide(browser, page, item === undefined ? {} : { item }));
  return gnap.proceed(asked, ref);
}

describe('RFC 9635 section 8: a token has only rights that its person has allowed', () => {
  test("if another person decides about a change, the first person's rights are not kept", async () => {
    const { told } = await given(READ);
    const wider = asking(album('x', 'read'), album('x', 'write'));
    const ofBob = await decided(told, wider, 'bob');
    expect(ofBob.body.access_token.access).toHaveLength(2);
    expect(await change(ofBob, READ)).toMatchObject(refusedWith('request_denied'));
  });

  test('an unticked right is not granted because its scope is allowed for another right', async () => {
    const { told } = await given(BOTH, { changes: { item: `${PHOTOS} photos:read` } });
    expect(told.body.access_token.access).toEqual(['photos:read']);
    const asked = await change(told, { ...asking(album('holiday', 'write')), interact: REDIRECT });
    const browser = await gnap.flow.signedIn('alice');
    await decide(browser, await open(asked, browser));
    gnap.flow.clock.advance(601);
    const again = await gnap.proceed(told);
    expect(JSON.stringify(again.body.access_token?.access ?? [])).not.toContain('photos:write');
  });

  test('a refusal stays, even if the person later allows other access', async () => {
    const { told } = await given(READ);
    const write = `${PHOTOS} photos:write`;
    const wider = asking(album('b', 'read'), 'photos:write');
    const second = await decided(told, wider, 'alice', write);
    expect(second.body.access_token.access).toEqual(['photos:write']);
    const third = await decided(second, asking(album('c', 'read')), 'alice');
    expect(third.body.access_token.access).toEqual([album('c', 'read')]);
    expect(await change(third, READ)).toMatchObject(refusedWith('request_denied'));
  });

  test('the page does not restrict a scope that another right has as a whole', async () => {
    const browser = await gnap.flow.signedIn('alice');
    const textOf = async (...access: unknown[]) =>
      (await open(await ask({ ...asking(...access), interact: REDIRECT }), browser)).text;
    expect(await textOf(album('holiday', 'read'), 'photos:read')).not.toContain('holiday');
    const both = await textOf(album('holiday', 'read'), album('work', 'read'));
    expect(both).toContain('read (photo-api); named holiday');
    expect(both).toContain('read (photo-api); named work');
  });

  test('a bearer token cannot restrict access, since servers that accept Bearer know only scopes', async () => {
    await gnap.register(gnap.key, { gnap: { key: gnap.key.byValue, bearer: true } });
    const body = { access_token: { access: [album('x', 'read')], flags: ['bearer'] } };
    expect(await ask({ ...body, interact: REDIRECT })).toMatchObject(refusedWith('invalid_flag'));
    const { told } = await given({ access_token: { access: ['photos:read'], flags: ['bearer'] } });
    expect((await manage(told)).status).toBe(200);
    expect(idOf(gnap.key)).toMatch(/^gnap-/);
  });

  test('the page of a change shows the address from which the change was requested', async () => {
    const { told } = await given(READ);
    const asked = await change(told, { ...BOTH, interact: { start: ['user_code'] } });
    const browser = await gnap.flow.signedIn('alice');
    const page = await browser.open(`/device?user_code=${asked.body.interact.user_code}`);
    expect(page.text).toContain('127.0.0.1');
  });
});
