import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { unseal } from '#shared/keys/seal.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { fetched } from '../fetched.fixture.ts';
import { answerIn } from '../site.fixture.ts';
import { ISSUER, openApplication, withCorp, type WithCorp } from './with-corp.fixture.ts';

const PATH = '/sign-in/with/corp/logout';

let flow: WithCorp;
beforeEach(async () => {
  flow = await withCorp();
});
afterEach(async () => flow[Symbol.asyncDispose]());

async function signIns() {
  const { server } = flow.site;
  const person = await server.stores.people.getByName('carol');
  return listSignIns(server, person?.id ?? '');
}

const end = (sid?: string, subject = 'subject-1') =>
  flow.corp.endSession(subject, sid, flow.site.url);

const post = async (body: string, type = 'application/x-www-form-urlencoded') => {
  const response = await fetched(flow.site.url + PATH, {
    method: 'POST',
    body,
    headers: [['content-type', type]],
  });
  return [response.status, ((await response.json()) as { error: string }).error];
};

describe('a logout token of a source (OpenID Connect Back-Channel Logout 1.0 section 2.5)', () => {
  test('ends the sign-in by that session, its grants, and no other', async () => {
    const [browser, other] = [flow.site.browser(), flow.site.browser()];
    await flow.signIn(other, 'subject-1');
    const [kept] = await signIns();
    const page = await browser.open(flow.site.authorize());
    const consent = await browser.open(await flow.visit(browser, page, 'subject-1'));
    const answer = await browser.submit(consent, { decision: 'allow' });
    expect(answerIn(answer).get('code')).not.toBeNull();
    const ended = (await signIns()).find(({ uid }) => uid !== kept?.uid);
    await end(ended?.sid);
    expect(await signIns()).toMatchObject([{ uid: kept?.uid }]);
    expect(await flow.site.redeem(answer)).toMatchObject({ error: 'invalid_grant' });
    expect((await browser.open('/account')).text).toContain('name="password"');
  });

  test('tells the applications that the sign-in has opened', async () => {
    const toldLater = await openApplication(flow, flow.site.browser());
    expect(await toldLater('carol')).toEqual([]);
    await end();
    expect(await toldLater('carol')).toEqual(['web']);
  });

  test('without a session ends all sign-ins of the person by that source', async () => {
    await flow.signIn(flow.site.browser(), 'subject-1');
    await flow.signIn(flow.site.browser(), 'subject-1');
    await end();
    expect(await signIns()).toEqual([]);
  });

  test('about an unknown person or session is accepted, and ends nothing', async () => {
    await flow.signIn(flow.site.browser(), 'subject-1');
    await end('another session');
    await end(undefined, 'subject-9');
    expect(await signIns()).toHaveLength(1);
  });

  test('that comes while the person is on the way back ends that sign-in, too', async () => {
    const browser = flow.site.browser();
    const callback = await flow.visit(browser, await browser.open('/account'), 'subject-1');
    const { headers } = await browser.request('GET', callback);
    const url = headers.get('location') ?? '';
    const ticket = new URL(url, ISSUER).searchParams.get('arrival') ?? '';
    const { content } = JSON.parse(unseal(flow.site.server.master, 'arrival', ticket)) as {
      readonly content: { readonly sid: string };
    };
    await end(content.sid);
    expect((await browser.open(url)).text).toContain('name="password"');
    expect(await signIns()).toEqual([]);
  });

  test.each([
    ['without a token', '', 400],
    ['with a token that is no JWT', 'logout_token=x', 400],
    ['with two tokens', 'logout_token=x&logout_token=y', 400],
    ['longer than 16 KiB', `logout_token=${'x'.repeat(17_000)}`, 413],
  ])('%s is refused', async (_, body, status) => {
    expect(await post(body)).toEqual([status, 'invalid_request']);
  });

  test('in another media type is refused', async () => {
    expect(await post('{}', 'application/json')).toEqual([415, 'invalid_request']);
  });

  test('for a source that does not exist is refused', async () => {
    const response = await fetched(`${flow.site.url}/sign-in/with/nowhere/logout`, {
      method: 'POST',
      body: 'logout_token=x',
      headers: [['content-type', 'application/x-www-form-urlencoded']],
    });
    expect(response.status).toBe(404);
  });
});
