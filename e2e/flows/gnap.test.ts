import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { testKey } from '#shared/gnap/client.fixture.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { decide, signIn, title } from './browser.fixture.ts';
import { runProcess } from './cli-user.ts';
import { ONE_STORE } from './flow.ts';
import {
  gnapClient,
  type GnapPlace,
  Instance,
  startGnap,
  type Told,
  type Token,
  type Visitor,
} from './gnap-parts.ts';

const READ = { access: ['photos:read'] };
const BOTH = [200, 200];
const NEITHER = [401, 401];

/** GNAP with two processes of each server, a client that was written from the RFC alone, and Chromium. */
describe.each(ONE_STORE)('on %s: GNAP (RFC 9635)', (kind) => {
  let place: GnapPlace;
  beforeAll(async () => {
    place = await startGnap(kind);
  });
  afterEach(async () => {
    expect(await place.close()).toEqual([]);
  });
  afterAll(async () => place?.[Symbol.asyncDispose]());

  /** An interaction that starts and finishes by redirects (sections 2.5.1.1 and 2.5.2.1). */
  function redirecting(hash_method = 'sha-256') {
    const state = randomUUID();
    const uri = `${place.callback.uri}?state=${state}`;
    const finish = { method: 'redirect', uri, nonce: randomUUID(), hash_method };
    return { state, finish, interact: { start: ['redirect'], finish } };
  }

  /** A person decides at the second authorization server; resolves to the client's reference. */
  async function reference(
    asked: Told,
    { state, finish }: ReturnType<typeof redirecting>,
    { page, person }: Visitor,
    decision: 'Allow' | 'Deny' = 'Allow',
  ): Promise<string> {
    await page.goto(asked.json.interact.redirect);
    await signIn(page, person);
    await decide(page, decision);
    const { searchParams } = new URL((await place.callback.answer(state)).url);
    const interact_ref = searchParams.get('interact_ref') ?? '';
    const { hash } = await gnapClient<{ hash: string }>({
      hash: {
        client_nonce: finish.nonce,
        server_nonce: asked.json.interact.finish,
        interact_ref,
        grant_endpoint: `${place.issuer}/gnap`,
        method: finish.hash_method,
      },
    });
    expect(searchParams.get('hash')).toBe(hash);
    return interact_ref;
  }

  /** Access that a person allows at the second server, to a client that asks the first one. */
  async function allowed(client: Instance, wanted: object = READ, visitor?: Visitor) {
    const way = redirecting();
    const asked = await client.ask({ access_token: wanted, interact: way.interact }, 0);
    const ref = await reference(asked, way, visitor ?? (await place.visit()));
    return { asked, given: await client.proceed(asked, ref, 1) };
  }

  const tokenOf = async (client: Instance, wanted: object = READ) =>
    (await allowed(client, wanted)).given.json.access_token;

  test('section 1.6.2: redirects lead to a token for both resource servers, until the person revokes it', async () => {
    const [client, visitor] = [new Instance(place), await place.visit()];
    const { asked, given } = await allowed(client, READ, visitor);
    const { access_token: token } = given.json;
    expect(token.access).toEqual(['photos:read']);
    expect(await client.use(token)).toEqual(BOTH);
    // A stranger's key has the same kid.
    expect(await new Instance(place).use(token)).toEqual(NEITHER);

    const { page } = visitor;
    await page.goto(`${place.issuer}/account`);
    await page.getByRole('button', { name: 'End the access of Prints', exact: true }).click();
    await page.getByRole('button', { name: 'End the access', exact: true }).click();
    await page.getByText('The application has no access any more').waitFor();
    expect(await client.use(token)).toEqual(NEITHER);
    const { uri, access_token: continuation } = asked.json.continue;
    const ended = await client.send('POST', uri, { token: continuation.value }, 0);
    expect(ended.json.error.code).toBe('invalid_continuation');
  });

  test('section 4.1.3: the person enters the code at /device, while the client polls', async () => {
    const client = new Instance(place);
    const { page, person } = await place.visit();
    const asked = await client.ask(
      { access_token: READ, interact: { start: ['user_code_uri'] } },
      0,
    );
    const { code, uri } = asked.json.interact.user_code_uri;
    const enter = async () => {
      await page.goto(uri);
      await signIn(page, person);
      const field = page.getByLabel('Code', { exact: true });
      await field.fill(code.toLowerCase().replace('-', ''));
      await field.press('Enter');
      await page.getByText(code).waitFor();
      await decide(page, 'Allow');
      await page.getByRole('heading', { name: 'Your device is connected' }).waitFor();
    };
    const [given] = await Promise.all([client.poll(asked), enter()]);
    expect(await client.use(given.json.access_token)).toEqual(BOTH);
  });

  test('section 3.6: a refusal is sent once, with a hash of another method (section 4.2.3)', async () => {
    const [client, way] = [new Instance(place), redirecting('sha3-512')];
    const asked = await client.ask({ access_token: READ, interact: way.interact }, 0);
    const visitor = await place.visit();
    const ref = await reference(asked, way, visitor, 'Deny');
    expect((await client.proceed(asked, ref, 1)).json.error.code).toBe('user_denied');
    expect((await client.proceed(asked, ref, 0)).json.error.code).toBe('invalid_continuation');
    await visitor.page.goto(`${place.issuer}/account`);
    expect(await title(visitor.page)).toBe('Your account');
    expect(await visitor.page.getByText('Prints').count()).toBe(0);
  });

  test('section 2.4: a person whom the client does not expect learns that, and the result of a refusal (section 2.5.1.1)', async () => {
    const { id } = (await place.visit()).person;
    const asked = await new Instance(place).ask(
      {
        access_token: READ,
        interact: { start: ['redirect'] },
        user: { sub_ids: [{ format: 'opaque', id }] },
      },
      0,
    );
    const { page, person } = await place.visit();
    await page.goto(asked.json.interact.redirect);
    await signIn(page, person);
    await page.getByText('Prints expects another person.').waitFor();
    await decide(page, 'Cancel');
    await page.getByText('The application gets no access.').waitFor();
  });

  test('section 11.10: a replayed unsafe request is refused at every resource server, and a safe request may repeat', async () => {
    const client = new Instance(place);
    const token = await tokenOf(client, { access: ['photos:read photos:write'] });
    // Ed25519 signs the same request in the same second with the same octets.
    const same = { created: Math.floor(Date.now() / 1000), nonce: null };
    const write = { ...same, method: 'PUT', content: 'a', content_type: 'text/plain' };
    const document = `${place.photos}${randomUUID()}`;
    expect(await client.use(token, document, write)).toEqual([201, 401]);
    expect(await client.use(token, document, write)).toEqual(NEITHER);
    expect(await client.use(token, document, same)).toEqual(BOTH);
    expect(await client.use(token, document, same)).toEqual(BOTH);
  });

  test('section 6.1: a rotation revokes the former token at once, even with another key', async () => {
    const [client, next] = [new Instance(place), new Instance(place, testKey('k2', 'ES256'))];
    const first = await tokenOf(client);
    expect(await client.use(first)).toEqual(BOTH);
    const second = (await client.rotate(first, 0)).json.access_token;
    expect([await client.use(first), await client.use(second)]).toEqual([NEITHER, BOTH]);

    const both = { json: { key: next.key.byValue }, jwk: next.jwk, rotate_from: client.jwk };
    const third = (await client.rotate(second, 1, both)).json.access_token;
    expect([await client.use(second), await client.use(third)]).toEqual([NEITHER, NEITHER]);
    expect(await next.use(third)).toEqual(BOTH);
  });

  test('section 2.1.2: one grant gives two labelled tokens, each for another space', async () => {
    const client = new Instance(place);
    const wanted = [
      { label: 'pictures', ...READ },
      { label: 'letters', access: [`${place.mails} mails:read`] },
    ];
    const tokens = await tokenOf(client, wanted);
    const [pictures, letters, ...others] = tokens as unknown as [Token, Token];
    expect([pictures.label, letters.label, others]).toEqual(['pictures', 'letters', []]);
    expect(await client.use(pictures)).toEqual(BOTH);
    expect(await client.use(pictures, place.mails)).toEqual(NEITHER);
    expect(await client.use(letters, place.mails)).toEqual(BOTH);
    expect(await client.use(letters)).toEqual(NEITHER);
  });

  test.each(['code', 'redirect'])(
    'the command line gets access by %s, and revokes it',
    async (way) => {
      await using folder = await temporaryFolder();
      const key = join(folder.path, 'key.json');
      await writeFile(key, JSON.stringify(new Instance(place).jwk));
      place.route(0);
      const { page, person } = await place.visit();
      let [said, isOpened] = ['', false];
      const hear = (text: string) => {
        said += text;
        const [, link] = /^Open (\S+)$/m.exec(said) ?? [];
        if (link === undefined || isOpened) return;
        isOpened = true;
        void page
          .goto(link)
          .then(() => signIn(page, person))
          .then(() => decide(page, 'Allow'));
      };
      const command = ['gnap', 'request', 'PUT', `${place.photos}cli`, '--key', key, '--by', way];
      const ended = await runProcess([...command, '--data', 'Hello'], place.flow.pair.env, {
        hear,
      });
      expect(ended).toMatchObject({ code: 0, stderr: expect.stringMatching(/HTTP 20[14]/) });
      await page.goto(`${place.issuer}/account`);
      // The activity names the command line as an event, but the command line has no access.
      const application = { name: 'Countersign command line', exact: true };
      expect(await page.getByRole('heading', application).count()).toBe(0);
    },
  );
});
