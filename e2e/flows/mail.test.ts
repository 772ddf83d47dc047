import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startMailServer, type TestMailServer } from '#shared/mail/smtp.fixture.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { type Flow, startFlowOn, STORE_KINDS } from './flow.ts';
import { browserAt, newPerson, signedIn, signIn } from './person.ts';

/** Recovery by mail and a notice, through real processes and a mail server with TLS. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let flow: Flow;
  let smtp: TestMailServer;
  beforeAll(async () => {
    smtp = await startMailServer('implicit');
    flow = await startFlowOn(kind, { authz: 2, settings: { mail: { ...smtp.mail } } as never });
  });
  afterAll(async () => {
    await flow?.[Symbol.asyncDispose]();
    await smtp[Symbol.asyncDispose]();
  });

  /** The messages to an address but for those of sign-ins, without soft line ends. */
  const messagesTo = (address: string) =>
    smtp.received
      .filter(({ to, content }) => to === address && !content.includes('new sign-in'))
      .map(({ content }) => content.replaceAll('=\r\n', ''));

  test('somebody who forgot their password gets a link once, sets a password and is told', async () => {
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

  test('a mail server that is dead delays a message, and no page', async () => {
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

  test('somebody whose address is not verified, and nobody, get nothing', async () => {
    const person = await newPerson(flow);
    const address = `${person.name}@example.com`;
    await flow.pair.cli('user', 'set', person.name, '--email', address);
    const last = await newPerson(flow);
    await flow.pair.cli('user', 'set', last.name, '--email', 'last@example.com,verified');
    const browser = browserAt(flow);
    for (const name of [person.name, 'nobody-at-all', last.name]) {
      await browser.submit(await browser.open('/recover'), { name }, '/recover');
    }
    // They are sent in the order in which they were asked for.
    await eventually(() => expect(messagesTo('last@example.com')).toHaveLength(1));
    expect(messagesTo(address)).toEqual([]);
  });
});
