import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { configSchema } from '#shared/config/schema.ts';
import { testPeople } from '#shared/people/directory.fixture.ts';
import { localDirectory } from '#shared/people/local.ts';
import { addPerson, disablePerson } from '#shared/people/people.ts';
import { setProfile } from '#shared/people/set-profile.fixture.ts';
import { createRegistrationLinks } from '#shared/people/registration.ts';
import { createRecoveryLinks } from '#shared/people/recovery-links.ts';
import { type MailKind, NOTICES } from '#shared/mail/kinds.ts';
import { notify } from '#shared/mail/notify.ts';
import { SMTP_USER, startMailServer, type TestMailServer } from '#shared/mail/smtp.fixture.ts';
import { openMail } from '#shared/mail/transport.ts';
import { someSecondFactor } from '#shared/stores/contract/samples.ts';
import { outboxChore } from './outbox-chore.ts';

const EMAIL = 'alice@example.com';

let smtp: TestMailServer;
beforeEach(async () => {
  smtp = await startMailServer('implicit');
});
afterEach(async () => smtp[Symbol.asyncDispose]());

/** Returns alice, whose address is verified, and a process that sends the messages. */
async function site(mail: object = smtp.mail) {
  const people = await testPeople();
  const { store, stores, passwords } = people;
  const clock = store.clock as ManualClock;
  const alice = await addPerson(store, {
    name: 'alice',
    profile: {
      emails: [
        { address: 'mallory@attacker.example', verified: false },
        { address: EMAIL, verified: true },
      ],
    },
  });
  const config = configSchema.parse({
    mail,
    issuer: 'https://auth.example',
    brand: { name: 'Ex' },
  });
  const directory = localDirectory({
    ...stores,
    passwords,
    admitted: { demo: true, sources: new Set() },
  });
  const server = { config, stores, directory, clock, random: systemRandom };
  const lines: (readonly [string, string | undefined])[] = [];
  const log = (event: string, { reason }: { readonly reason?: string | undefined } = {}) =>
    void lines.push([event, reason]);
  const chore = outboxChore(server, await openMail(config), { info: log, warn: log, error: log });
  return {
    ...people,
    server,
    alice,
    clock,
    lines,
    run: () => chore.run(),
    tell: (kind: MailKind, language: 'en' | 'de' = 'en') =>
      notify(server, alice.id, kind, language),
    waiting: async () => (await stores.outbox.take(clock.now() + 1e12, 1e15, 100)).length,
  };
}

/** Returns the text of a message without its transfer encoding. */
const textOf = (content = '') => {
  const [fields = '', ...body] = content.split('\r\n\r\n');
  const text = body.join('\r\n\r\n');
  if (/quoted-printable/i.test(fields)) {
    const octets = text
      .replaceAll('=\r\n', '')
      .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    return Buffer.from(octets, 'latin1').toString();
  }
  return /base64/i.test(fields) ? Buffer.from(text, 'base64').toString() : text;
};

describe.each(['implicit', 'starttls'] as const)('with TLS of the kind %s', (tls) => {
  test('a message is sent only to the verified address, after AUTH, under TLS', async () => {
    await using own = await startMailServer(tls);
    const { run, tell, waiting, lines } = await site(own.mail);
    await tell('password-changed');
    await run();
    expect(own.received).toHaveLength(1);
    const [{ to, content, secure, auth } = { to: '', content: '', secure: false, auth: '' }] =
      own.received;
    expect([to, secure]).toEqual([EMAIL, true]);
    expect(Buffer.from(auth ?? '', 'base64').toString()).toBe(
      `\0${SMTP_USER.user}\0${SMTP_USER.password}`,
    );
    expect(content).toMatch(/^From: Ex <accounts@example\.com>\r$/m);
    expect(content).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(textOf(content)).toContain('at Ex your password was changed');
    expect(own.commands.filter((one) => /^clear (?:AUTH|MAIL|RCPT|DATA)/.test(one))).toEqual([]);
    expect(await waiting()).toBe(0);
    expect(lines).toEqual([['mail.sent', 'password-changed']]);
  });

  test('a mail server with another certificate gets no message', async () => {
    await using own = await startMailServer(tls);
    const { ca: _, ...mail } = own.mail;
    const { run, tell, waiting, lines } = await site(mail);
    await tell('password-changed');
    await run();
    expect(own.commands.filter((one) => /AUTH|MAIL|DATA/.test(one))).toEqual([]);
    expect([lines[0]?.[0], await waiting()]).toEqual(['mail.postponed', 1]);
  });
});

test('a mail server without STARTTLS gets no message in clear text', async () => {
  await using own = await startMailServer('starttls');
  own.answers = { EHLO: '250 localhost', STARTTLS: '502 what?' };
  const { run, tell, waiting } = await site(own.mail);
  await tell('password-changed');
  await run();
  expect(own.commands.filter((one) => /AUTH|MAIL|DATA/.test(one))).toEqual([]);
  expect(await waiting()).toBe(1);
});

test('a recovery message has a working link, which is made when the message is sent', async () => {
  const { run, tell, server, alice } = await site();
  await tell('recovery', 'de');
  await run();
  const text = textOf(smtp.received[0]?.content);
  expect(text).toContain('Guten Tag alice');
  const [, secret = ''] = /https:\/\/auth\.example\/recover\/([\w-]{22})\s/.exec(text) ?? [];
  expect(await createRecoveryLinks(server).find(secret)).toEqual({
    person: alice.id,
    purpose: 'recovery',
    byMail: true,
    address: EMAIL,
  });
});

test.each([
  ['passkey-added', 'a passkey was added', 'Ein Passkey wurde hinzugefügt'],
  ['passkey-removed', 'a passkey was removed', 'Ein Passkey wurde entfernt'],
  ['password-set', 'a password was set', 'Für Ihr Konto wurde ein Passwort gesetzt'],
  ['second-factor-set-up', 'a second factor was set up', 'Ein zweiter Faktor wurde eingerichtet'],
  [
    'second-factor-replaced',
    'your second factor was replaced by another',
    'Ihr zweiter Faktor wurde durch einen anderen ersetzt',
  ],
  ['second-factor-removed', 'second factor was removed', 'Ihr zweiter Faktor wurde entfernt'],
  ['recovery-codes-renewed', 'new recovery codes were made', 'Neue Ersatzcodes wurden erstellt'],
  [
    'recovery-code-used',
    'a recovery code was used to sign in (codes left: 2)',
    'Ein Ersatzcode wurde zur Anmeldung verwendet (noch übrig: 2)',
  ],
] as const)(
  'the message %s is sent in the language of the person',
  async (kind, english, german) => {
    const { run, tell, stores, alice } = await site();
    await stores.secondFactors.add(someSecondFactor(alice.id));
    await tell(kind);
    await tell(kind, 'de');
    await run();
    const texts = smtp.received.map(({ content }) => textOf(content)).join('\n');
    expect(texts).toContain(english);
    expect(texts).toContain(german);
  },
);

describe('the message about a new sign-in', () => {
  test.each([
    ['en', 'Program: Firefox', 'new sign-in'],
    ['de', 'Programm: Firefox', 'Neue Anmeldung'],
  ] as const)(
    'in the language %s the message has time, program and address',
    async (language, program, subject) => {
      const { run, server, alice, clock } = await site();
      const origin = { program: 'Firefox', address: '192.0.2.7' };
      await notify(server, alice.id, 'new-sign-in', language, { origin });
      await run();
      const [{ content } = { content: '' }] = smtp.received;
      const text = textOf(content);
      const at = new Date(clock.now()).toISOString();
      expect(text).toMatch(
        new RegExp(
          `: \\d+\\.? [A-Z][a-z]+ ${at.slice(0, 4)} (?:at|um) ${at.slice(11, 16)} UTC\\r\\n`,
        ),
      );
      expect(text).toContain(`${program}\r\n`);
      expect(text).toContain(': 192.0.2.7\r\n');
      expect(content).toContain(`Subject: Ex: ${subject}\r\n`);
    },
  );
});

test.each([
  ['de-AT', 'en', 'Ihr Passwort wurde geändert'],
  ['en-GB', 'de', 'your password was changed'],
  ['fr', 'de', 'Ihr Passwort wurde geändert'],
] as const)(
  "a message to a person who prefers %s is in that language if it is supported, else in the browser's (%s)",
  async (locale, browser, sentence) => {
    const { run, tell, store } = await site();
    await setProfile(store, 'alice', (profile) => ({ ...profile, locale }));
    await tell('password-changed', browser);
    await run();
    expect(textOf(smtp.received[0]?.content)).toContain(sentence);
  },
);

describe('many changes', () => {
  test('many notices of one kind become three messages, and one an hour later for the rest', async () => {
    const { run, tell, clock, waiting } = await site();
    for (let n = 0; n < 50; n += 1) await tell('passkey-added');
    await run();
    expect(smtp.received).toHaveLength(3);
    clock.advance(3599);
    await run();
    expect(smtp.received).toHaveLength(3);
    clock.advance(1);
    await run();
    expect(smtp.received.map(({ content }) => /several times/.test(textOf(content)))).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(await waiting()).toBe(0);
  });

  test("many notices of one kind do not hold back other kinds, or other people's notices", async () => {
    const { run, tell, store, server } = await site();
    const bob = await addPerson(store, {
      name: 'bob',
      profile: { emails: [{ address: 'bob@example.com', verified: true }] },
    });
    for (let n = 0; n < 50; n += 1) await tell('passkey-added');
    await tell('password-changed');
    await notify(server, bob.id, 'passkey-added', 'en');
    await run();
    expect(smtp.received.map(({ to }) => to).toSorted()).toEqual([
      EMAIL,
      EMAIL,
      EMAIL,
      EMAIL,
      'bob@example.com',
    ]);
  });
});

describe('a visitor asks for an account', () => {
  const wants = async (
    registration: 'off' | 'invited' | 'open',
    kind: 'registration' | 'registration-invitation',
    to: string,
  ) => {
    const all = await site();
    const people = { ...all.server.config.people, registration };
    const server = { ...all.server, config: { ...all.server.config, people } };
    const silent = { info: () => {}, warn: () => {}, error: () => {} };
    await notify(server, '(nobody) x', kind, 'en', { to });
    await outboxChore(server, await openMail(server.config), silent).run();
    const [received] = smtp.received;
    const text = textOf(received?.content);
    const [, secret = ''] = /https:\/\/auth\.example\/register\/([\w-]{22})\s/.exec(text) ?? [];
    const right = await createRegistrationLinks(server).find(secret);
    return { to: received?.to, text, right, waiting: await all.waiting() };
  };

  test.each(['registration', 'registration-invitation'] as const)(
    'after the request %s an unknown address gets a link, which verifies it',
    async (kind) => {
      const { to, right } = await wants('open', kind, 'dora@example.com');
      expect([to, right]).toEqual([
        'dora@example.com',
        {
          id: expect.any(String),
          address: 'dora@example.com',
          mailed: true,
          ...(kind === 'registration' && { asked: true }),
        },
      ]);
    },
  );

  test('the verified address of an account gets a message about the account, and no registration link', async () => {
    const { to, text, right } = await wants('open', 'registration', EMAIL.toUpperCase());
    expect([to, right]).toEqual([EMAIL, undefined]);
    expect(text).toContain('your name there is alice');
  });

  test('an unverified address that a person entered gets a registration link', async () => {
    const { right } = await wants('open', 'registration', 'mallory@attacker.example');
    expect(right).toBeDefined();
  });

  test.each([
    ['off', 'registration', 0],
    ['off', 'registration-invitation', 0],
    ['invited', 'registration', 0],
    ['invited', 'registration-invitation', 1],
  ] as const)(
    'with people.registration %s at the time of sending, %s is sent %i times',
    async (now, kind, count) => {
      const { waiting } = await wants(now, kind, 'dora@example.com');
      expect([smtp.received.length, waiting]).toEqual([count, 0]);
    },
  );
});

test('many requests lead to one message', async () => {
  const { run, tell } = await site();
  await Promise.all(Array.from({ length: 10 }, () => tell('recovery')));
  await run();
  expect(smtp.received).toHaveLength(1);
});

test.each<[string, Readonly<Record<string, string>>]>([
  ['says 4xx at its greeting', { greeting: '421 later' }],
  ['says 4xx to the recipient', { RCPT: '451 later' }],
  ['says 4xx to the message', { '.': '452 full' }],
  ['refuses the password', { AUTH: '535 no' }],
])(
  'if the mail server %s, the message is tried again, later each time, until it is sent',
  async (_, answers) => {
    const { run, tell, clock, lines } = await site();
    await tell('password-changed');
    smtp.answers = answers;
    await run();
    await run();
    clock.advance(9.999);
    await run();
    expect(lines).toHaveLength(1);
    clock.advance(0.001);
    await run();
    expect(lines.map(([event]) => event)).toEqual(['mail.postponed', 'mail.postponed']);
    smtp.answers = {};
    clock.advance(19.999);
    await run();
    expect(smtp.received).toEqual([]);
    clock.advance(0.001);
    await run();
    expect(smtp.received).toHaveLength(1);
  },
);

test.each<[string, Readonly<Record<string, string>>]>([
  ['the recipient', { RCPT: '550 nobody here' }],
  ['the message', { '.': '554 no' }],
])(
  'if the mail server permanently refuses %s, the message is not tried again, and the refusal is logged',
  async (_, answers) => {
    const { run, tell, waiting, lines } = await site();
    await tell('password-changed');
    smtp.answers = answers;
    await run();
    expect([lines[0]?.[0], await waiting()]).toEqual(['mail.refused', 0]);
  },
);

test('a message waits while the mail server is down', async () => {
  const { run, tell, lines, waiting } = await site();
  await smtp[Symbol.asyncDispose]();
  await tell('recovery');
  await run();
  expect([lines[0]?.[0], await waiting()]).toEqual(['mail.postponed', 1]);
});

test('a message that could not be sent in time is given up and logged', async () => {
  const { run, tell, clock, lines, waiting } = await site();
  await tell('recovery');
  clock.advance(3600);
  await run();
  expect([lines, smtp.received, await waiting()]).toEqual([
    [['mail.given-up', 'recovery, after 0 attempts']],
    [],
    0,
  ]);
});

test('if a process is killed while it sends, another process sends the message', async () => {
  const { run, tell, clock, stores } = await site();
  await tell('password-changed');
  await stores.outbox.take(clock.now(), clock.now() + 300_000, 10);
  clock.advance(299);
  await run();
  expect(smtp.received).toEqual([]);
  clock.advance(1);
  await run();
  expect(smtp.received).toHaveLength(1);
});

test('concurrent processes send each message once', async () => {
  const { run, tell } = await site();
  for (const kind of NOTICES) await tell(kind);
  await Promise.all([run(), run(), run()]);
  expect(smtp.received).toHaveLength(NOTICES.length);
});

test.each([
  ['is disabled', (all: Awaited<ReturnType<typeof site>>) => disablePerson(all.store, 'alice')],
  [
    'has no verified address',
    (all: Awaited<ReturnType<typeof site>>) =>
      setProfile(all.store, 'alice', () => ({ emails: [{ address: EMAIL, verified: false }] })),
  ],
])('a person who %s gets no message, and no message waits', async (_, change) => {
  const all = await site();
  await all.tell('recovery');
  await change(all);
  await all.run();
  expect([smtp.received, smtp.commands, await all.waiting()]).toEqual([[], [], 0]);
});

test('a line end in the operator’s name does not add a header field', async () => {
  const { server, tell, clock, stores } = await site();
  const brand = { ...server.config.brand, name: 'Ex\r\nBcc: mallory@attacker.example' };
  const config = { ...server.config, brand };
  const silent = { info: () => {}, warn: () => {}, error: () => {} };
  await tell('password-changed');
  await outboxChore({ ...server, config }, await openMail(config), silent).run();
  expect(smtp.received.map(({ to }) => to)).toEqual([EMAIL]);
  expect(smtp.received[0]?.content.split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/im);
  expect(await stores.outbox.take(clock.now(), clock.now() + 1, 1)).toEqual([]);
});

test('without a mail server in the configuration no message waits', async () => {
  const { server, stores, alice, clock } = await site();
  const config = { ...server.config, mail: undefined };
  await notify({ ...server, config }, alice.id, 'recovery', 'en');
  expect(await stores.outbox.take(clock.now(), clock.now() + 1, 1)).toEqual([]);
});
