import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startMailServer, type TestMailServer } from '#shared/mail/smtp.fixture.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { type Flow, startFlowOn, STORE_KINDS } from './flow.ts';
import { browserAt, newPerson, signedIn, signIn } from './person.ts';

/** Recovery by mail and a notice, with real processes and a mail server over TLS. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let flow: Flow;
  let smtp: TestMailServer;
  beforeAll(async () => {
    smtp = await startMailServer('implicit');
    const settings = { mail: { ...smtp.mail }, people: { registration: 'open' } };
    flow = await startFlowOn(kind, { authz: 2, settings: settings as never });
  });
  afterAll(async () => {
    await flow?.[Symbol.asyncDispose]();
    await smtp[Symbol.asyncDispose]();
  });

  /** The messages to an address except notices of sign-ins, without soft line ends. */
  const messagesTo = (address: string) =>
    smtp.received
      .filter(({ to, content }) => to === address && !content.includes('new sign-in'))
      .map(({ content }) => content.replaceAll('=\r\n', ''));

  test('a person who forgot the password gets one link, sets a password, and gets a notice', async () => {
    const person = await newPerson(flow);
    const address = `${person.name}@example.com`;
    await flow.pair.cli('user', 'set', person.name, '--email', `${address},verified`);
    const browser = browserAt(flow);
    const asked = await browser.open('/recover');
    await browser.submit(asked, { name: person.name }, '/recover');
    await eventually(() => expect(messagesTo(address)).toHaveLength(1));
    const [, path = ''] = /(\/recover\/[\w-]{22})\s/.exec(messagesTo(address)[0] ?? '') ?? [];
    const elsewhere = browserAt(flow, 1);
    const password = 'the new password';
    const done = await elsewhere.submit(await elsewhere.open(path), { password }, path);
    expect(done.text).toContain('Your password is set');
    const page = await signIn(browser, await browser.open('/account'), { ...person, password });
    expect(page.status).toBe(200);
    await eventually(() => expect(messagesTo(address)).toHaveLength(2));
    expect(messagesTo(address)[1]).toContain('was changed');
  });

  test('ten registrations at once at two servers make one account, with a link of the issuer', async () => {
    const address = `newcomer-${kind.length}@example.com`;
    const browser = browserAt(flow);
    // Another person who asks for the link cannot change where it leads.
    browser.fields = {
      ...browser.fields,
      'x-forwarded-host': 'attacker.example',
      'x-forwarded-proto': 'gopher',
      forwarded: 'for=192.0.2.1;host=attacker.example',
      'x-original-host': 'attacker.example',
    };
    const asked = await browser.open('/register');
    await browser.submit(asked, { address }, '/register');
    await eventually(() => expect(messagesTo(address)).toHaveLength(1));
    const [message = ''] = messagesTo(address);
    expect(message).not.toContain('attacker.example');
    const [, origin, path = ''] =
      /(https?:\/\/[^/\s]+)(\/register\/[\w-]{22})\s/.exec(message) ?? [];
    expect(origin).toBe(browserAt(flow).issuer);
    const uses = await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const other = browserAt(flow, n % 2);
        const name = `newcomer${kind.length}${'abcdefghij'.charAt(n)}`;
        const fields = { name, password: 'a password of theirs' };
        const page = await other.send(await other.open(path), fields, path);
        return { name, status: page.status };
      }),
    );
    const made = uses.filter(({ status }) => status === 200);
    expect(made).toHaveLength(1);
    const listed = await flow.pair.cli('user', 'list', '--email', address);
    expect(listed).toMatchObject([{ name: made[0]?.name }]);
    const again = browserAt(flow, 1);
    await again.submit(await again.open('/register'), { address }, '/register');
    await eventually(() => expect(messagesTo(address)).toHaveLength(2));
    expect(messagesTo(address)[1]).toContain('You already have an account');
  });

  test('if one name is chosen with two links at once at two servers, one account gets it', async () => {
    const name = `wanted${kind.length}`;
    const paths: string[] = [];
    for (const n of [0, 1]) {
      const address = `wants-${kind.length}-${n}@example.com`;
      const browser = browserAt(flow);
      await browser.submit(await browser.open('/register'), { address }, '/register');
      await eventually(() => expect(messagesTo(address)).toHaveLength(1));
      paths.push(/(\/register\/[\w-]{22})\s/.exec(messagesTo(address)[0] ?? '')?.[1] ?? '');
    }
    const pages = await Promise.all(
      paths.map(async (path, n) => {
        const browser = browserAt(flow, n);
        const page = await browser.open(path);
        return browser.send(page, { name, password: 'a password of theirs' }, path);
      }),
    );
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200, 422]));
  });

  test('a mail server that is down delays the message, and no page', async () => {
    const person = await newPerson(flow);
    const address = `${person.name}@example.com`;
    await flow.pair.cli('user', 'set', person.name, '--email', `${address},verified`);
    const before = smtp.greetings();
    smtp.answers = { greeting: '421 later' };
    const browser = await signedIn(flow, person);
    const fields = { current: person.password, password: 'the new password' };
    const page = await browser.open('/account/password');
    const changed = await browser.send(page, fields, '/account/password');
    expect(changed.status).toBe(303);
    await eventually(() => expect(smtp.greetings()).toBeGreaterThan(before));
    expect(messagesTo(address)).toEqual([]);
    smtp.answers = {};
    await eventually(() => expect(messagesTo(address)).toHaveLength(1));
  });

  test('a person with an unverified address, and an unknown address, get no message', async () => {
    const person = await newPerson(flow);
    const address = `${person.name}@example.com`;
    await flow.pair.cli('user', 'set', person.name, '--email', address);
    const last = await newPerson(flow);
    await flow.pair.cli('user', 'set', last.name, '--email', 'last@example.com,verified');
    const browser = browserAt(flow);
    for (const name of [person.name, 'nobody-at-all', last.name]) {
      await browser.submit(await browser.open('/recover'), { name }, '/recover');
    }
    // Messages are sent in the order of the requests.
    await eventually(() => expect(messagesTo('last@example.com')).toHaveLength(1));
    expect(messagesTo(address)).toEqual([]);
  });
});
