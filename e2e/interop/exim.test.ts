import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { browserAt, newPerson, signIn } from '../flows/person.ts';
import { type Flow, ONE_STORE, startFlowOn } from '../flows/flow.ts';
import { type Exim, startExim } from '../parts/exim.ts';

/** Mail through Debian's Exim, with TLS and AUTH. */
describe.each(ONE_STORE)('on %s', (kind) => {
  let flow: Flow;
  let exim: Exim;
  beforeAll(async () => {
    exim = await startExim(selfSigned(['localhost'], systemClock, systemRandom));
    flow = await startFlowOn(kind, { settings: { mail: { ...exim.mail } } as never });
  });
  afterAll(async () => {
    await flow?.[Symbol.asyncDispose]();
    await exim?.[Symbol.asyncDispose]();
  });
  beforeEach(() => exim.defer(false));

  /** A new person asks for a link; resolves to the person's address. */
  async function ask(host = 'example.com', part?: string) {
    const { name } = await newPerson(flow);
    const address = `${part ?? name}@${host}`;
    await flow.pair.cli('user', 'set', name, '--email', `${address},verified`);
    const browser = browserAt(flow);
    const page = await browser.open('/recover');
    const answer = await browser.submit(page, { name }, '/recover');
    expect(answer.text).toContain('Check your mailbox');
    return address;
  }
  const arrives = (address: string, count = 1) =>
    eventually(async () => expect(await exim.messagesTo(address)).toHaveLength(count));

  test('Exim accepts a message after AUTH over TLS, and the link in the message works', async () => {
    const person = await newPerson(flow);
    const address = `${person.name}@example.com`;
    await flow.pair.cli('user', 'set', person.name, '--email', `${address},verified`);
    const browser = browserAt(flow);
    await browser.submit(await browser.open('/recover'), { name: person.name }, '/recover');
    await arrives(address);
    const [message = ''] = await exim.messagesTo(address);
    expect(message).toMatch(/^-auth_sender|^-host_auth/m);
    expect(message).toMatch(/^-tls_cipher TLS1\.[23]/m);
    const text = message.replaceAll('=\n', '');
    const [, path = ''] = /(\/recover\/[\w-]{22})\s/.exec(text) ?? [];
    const password = 'the new password';
    const set = await browser.submit(await browser.open(path), { password }, path);
    expect(set.text).toContain('Your password is set');
    const page = await signIn(browser, await browser.open('/account'), { ...person, password });
    expect(page.status).toBe(200);
    // The messages: the link, the changed password, and the sign-in.
    await arrives(address, 3);
  });

  test('while Exim hangs no page waits for it, and later Exim gets the message', async () => {
    exim.hang();
    const before = flow.pair.authz[0]?.log ?? '';
    const address = await ask();
    // If a page waited for the mail server, its answer would come after this line.
    expect(flow.pair.authz[0]?.log.slice(before.length)).not.toContain('mail.postponed');
    exim.wake();
    await arrives(address);
  });

  test('if Exim is killed and started again, no message is lost', async () => {
    await exim.kill();
    const all = [await ask(), await ask()];
    await exim.start();
    for (const address of all) await arrives(address);
  });

  test('after a 4xx the server tries again until Exim accepts the message', async () => {
    await exim.defer(true);
    const address = await ask();
    await eventually(() => expect(flow.pair.authz[0]?.log).toContain('451'));
    expect(await exim.messagesTo(address)).toEqual([]);
    await exim.defer(false);
    await arrives(address);
  });

  test('after a 5xx the server gives up and logs it', async () => {
    await ask('example.com', 'refused');
    await eventually(() => expect(flow.pair.authz[0]?.log).toContain('mail.refused'));
    expect(await exim.messagesTo('refused@example.com')).toEqual([]);
  });
});
